import Journal

/// Rows that depend on each other by foreign keys: which of them are parents that others may need.
///
/// ``reduce(_:)`` removes rows until no row that is left has to go. Only the children of a removed row are
/// looked at again, so a chain of any length costs in proportion to it.
struct Dependence {
    /// The values by which children find a parent through one foreign key.
    private struct Link: Hashable {
        let foreignKey: Int
        let values: Key

        init(_ key: ForeignKey, _ values: [Value]) {
            foreignKey = key.id
            self.values = Key(values, collations: key.parentCollations)
        }
    }

    private let members: [VisibleRows.Member]
    /// What each row is a parent for.
    private var offers: [[Link]] = []
    /// How many rows that are left offer a link.
    private var providers: [Link: Int] = [:]
    /// The rows that look for a link, as indices.
    private var seekers: [Link: [Int]] = [:]

    init(_ members: [VisibleRows.Member], _ store: RowStore) throws {
        self.members = members
        let foreignKeys = store.session.foreignKeys
        for (index, member) in members.enumerated() {
            let row = member.row
            let values = row.table.stored.indices.map { member.image[row.table, $0] ?? .null }
            let links = row.context.references.compactMap { key in
                store.parentValues(key, table: row.table, row: values).map { Link(key, $0) }
            }
            for link in links { providers[link, default: 0] += 1 }
            offers.append(links)
            for key in row.context.foreignKeys {
                if let values = try foreignKeys.reference(key, row: { values[$0] }) {
                    seekers[Link(key, values), default: []].append(index)
                }
                if case .values(let substitutes) = key.substitute, !substitutes.contains(.null) {
                    seekers[Link(key, substitutes), default: []].append(index)
                }
            }
        }
    }

    /// Removes rows until `hasToGo` returns false for all that are left.
    ///
    /// - Parameter hasToGo: Gets a row, and a function that tells whether a row that is left is the parent
    ///   for a foreign key with these values. It must not become false for a row when others are removed.
    /// - Returns: The rows that are left, in their order.
    func reduce(
        _ hasToGo: (VisibleRows.Member, (ForeignKey, [Value]) -> Bool) throws -> Bool
    ) rethrows -> [VisibleRows.Member] {
        var isLeft = Array(repeating: true, count: members.count)
        var waiting = Array(members.indices)
        var left = providers
        while let index = waiting.popLast() {
            guard isLeft[index], try hasToGo(members[index], { left[Link($0, $1), default: 0] > 0 }) else { continue }
            isLeft[index] = false
            for link in offers[index] {
                left[link, default: 1] -= 1
                for seeker in seekers[link] ?? [] where isLeft[seeker] { waiting.append(seeker) }
            }
        }
        return members.indices.filter { isLeft[$0] }.map { members[$0] }
    }
}
