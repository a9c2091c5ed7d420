import Foundation
import Journal

/// The line that a hook gets on its standard input: one JSON object. It holds no values of rows.
struct HookLine {
    /// The most conflicts, or peers, that are named.
    static let most = 20
    /// The most tables of one peer that are named.
    static let mostTables = 3
    /// The most Unicode scalars of one name. JSON needs 6 bytes for some.
    static let nameLength = 80

    let text: String

    /// - Parameters:
    ///   - conflicts: The first new entries, at most ``most`` and one more.
    ///   - report: Names the replica and its file.
    init(_ kind: HookKind, _ now: HookSituation, conflicts: [ConflictEntry], _ report: StatusReport, time: Date) {
        var members: [JSONValue.Member] = [
            .init(name: "event", value: .string(kind.rawValue)),
            .init(name: "time", value: .string(ConsoleText.time(time))),
            .init(name: "database", value: .string(report.path)),
            .init(name: "origin", value: .string(report.origin.description)),
        ]
        func add(_ name: String, _ value: JSONValue) { members.append(.init(name: name, value: value)) }
        func short(_ name: String) -> JSONValue {
            .string(String(String.UnicodeScalarView(name.unicodeScalars.prefix(HookLine.nameLength))))
        }
        switch kind {
        case .conflict:
            add("open", .integer(Int64(now.openConflicts)))
            add(
                "new",
                .array(
                    conflicts.prefix(HookLine.most).map { conflict in
                        .object([
                            "id": .integer(conflict.id), "kind": .string(conflict.kind.rawValue),
                            "table": short(conflict.table),
                        ])
                    }))
            add("more", .bool(conflicts.count > HookLine.most))
        case .held:
            add("held", .integer(Int64(now.held)))
            add(
                "by_reason",
                .object(
                    now.heldByReason.sorted { $0.key < $1.key }.map {
                        JSONValue.Member(name: $0.key, value: .integer(Int64($0.value)))
                    }))
        case .mismatch:
            let peers = now.mismatches.sorted { $0.key < $1.key }.prefix(HookLine.most)
            add(
                "peers",
                .array(
                    peers.map { url, tables in
                        .object([
                            "url": short(url), "tables": .array(tables.prefix(HookLine.mostTables).map { short($0) }),
                        ])
                    }))
        }
        text = JSONValue.object(members).text
    }
}
