import Foundation

/// A todo in the spelling of the API.
struct TodoAnswer: Decodable, Hashable, Sendable {
    let id: String
    let title: String
    let done: Bool
}

struct ErrorAnswer: Decodable, Sendable {
    struct Detail: Decodable, Sendable {
        let code: String
        let message: String
    }
    let error: Detail
}

/// One event of the feed.
enum LiveEvent: Sendable, Hashable {
    case list([TodoAnswer])
    case change(origin: String, todos: [TodoAnswer], deleted: [String])

    init(_ text: String) throws {
        struct Change: Decodable {
            let origin: String
            let todos: [TodoAnswer]
            let deleted: [String]
        }
        var fields: [Substring: Data] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = Data(parts[1].utf8) }
        }
        let data = fields["data"] ?? Data()
        switch fields["event"].map({ String(decoding: $0, as: UTF8.self) }) {
        case "list": self = .list(try JSONDecoder().decode([TodoAnswer].self, from: data))
        case "change":
            let change = try JSONDecoder().decode(Change.self, from: data)
            self = .change(origin: change.origin, todos: change.todos, deleted: change.deleted)
        default: throw ServerProcessError(description: "this is no event: \(text)")
        }
    }

    var todos: [TodoAnswer] {
        switch self {
        case .list(let todos), .change(_, let todos, _): todos
        }
    }

    var isRemote: Bool {
        if case .change(let origin, _, _) = self { return origin != "local" }
        return false
    }
}
