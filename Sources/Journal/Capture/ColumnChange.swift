/// What a migration did to the columns of a tracked table, besides the key.
struct ColumnChange {
    /// The columns that the table did not have, or had and lost in between, as indices of
    /// ``TableInspection/stored``.
    private(set) var fresh: Set<Int> = []
    /// The former columns that rows have lost under these names, those included that came back since.
    private(set) var gone: [String] = []
    /// The columns that had another name, as indices of ``TableInspection/stored``, with that name, folded.
    private(set) var renamed: [Int: String] = [:]

    /// - Parameters:
    ///   - before: The shape that the triggers wrote; its key is that of the table.
    ///   - table: The table now.
    ///   - columnsInTriggers: The columns of that shape under their present names; nil when unknown.
    init(from before: TableShape, to table: TableInspection, columnsInTriggers: [String]?) {
        let old = Set(before.columns.map(SQLText.foldedName))
        var former: [String: String] = [:]
        if let columnsInTriggers, columnsInTriggers.count == before.columns.count {
            for (name, oldName) in zip(columnsInTriggers, before.columns) {
                former[SQLText.foldedName(name)] = SQLText.foldedName(oldName)
            }
        }
        for index in table.stored.indices.dropFirst(table.keyCount) {
            let name = SQLText.foldedName(table.stored[index].name)
            if !old.contains(name) { fresh.insert(index) }
            if let oldName = former[name], oldName != name { renamed[index] = oldName }
        }
        let present = Set(table.stored.map { SQLText.foldedName($0.name) })
        gone = before.columns.filter { !present.contains(SQLText.foldedName($0)) }
        addReset(ColumnChange.moved(in: table, from: before).filter { renamed[$0] == nil }, of: table)
    }

    /// Adds columns that were dropped and added again, as indices of ``TableInspection/stored``.
    mutating func addReset(_ columns: Set<Int>, of table: TableInspection) {
        fresh.formUnion(columns)
        gone += columns.sorted().map { table.stored[$0].name }
    }

    /// The columns that stand after a column before which they stood. ADD COLUMN appends, so they were
    /// dropped and added again. A table that was rebuilt can have its columns in any order, but it has lost
    /// its triggers, and all of its rows are compared.
    private static func moved(in table: TableInspection, from before: TableShape) -> Set<Int> {
        let places = Dictionary(
            before.columns.enumerated().map { (SQLText.foldedName($1), $0) }, uniquingKeysWith: { first, _ in first })
        var last = 0
        var moved: Set<Int> = []
        for index in table.stored.indices.dropFirst(table.keyCount) {
            guard let place = places[SQLText.foldedName(table.stored[index].name)] else { continue }
            if place < last { moved.insert(index) }
            last = max(last, place)
        }
        return moved
    }

    /// True when a column took a name that another column had.
    var exchangesNames: Bool { !renamed.keys.allSatisfy(fresh.contains) }
}
