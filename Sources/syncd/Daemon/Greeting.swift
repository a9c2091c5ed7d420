import Journal
import Synchronization

/// What a daemon says about a database when it accepts connections.
struct Greeting: Sendable {
    /// The name of the database among several; nil for the only one.
    let name: String?
    let isSecure: Bool
    /// With the actual port.
    let address: ListenAddress
    let identity: Identity

    var url: String { "\(isSecure ? "https" : "http")://\(address)" }

    /// The line on standard output.
    var line: String {
        let end = name.map { ", for \($0)." } ?? "."
        return "Listening on \(url) as replica \(identity.origin.short) of cluster \(identity.cluster)\(end)"
    }
}

/// Greets when all databases accept connections: with one that cannot, nobody is told that the others do.
final class Greetings: Sendable {
    private let names: [String?]
    private let manager: ServiceManager
    private let arrived = Mutex<[Greeting]>([])

    /// - Parameter names: Those of all databases, in the order of the lines.
    init(of names: [String?], _ manager: ServiceManager) {
        self.names = names
        self.manager = manager
    }

    /// Prints the lines and tells the service manager with the last one.
    func add(_ greeting: Greeting) {
        let all: [Greeting] = arrived.withLock { arrived in
            arrived.append(greeting)
            guard arrived.count == names.count else { return [] }
            return names.compactMap { name in arrived.first { $0.name == name } }
        }
        guard !all.isEmpty else { return }
        for greeting in all { Console.line(greeting.line) }
        manager.tell(["READY=1", "STATUS=Listening on " + all.map(\.url).joined(separator: ", ")])
    }
}
