import GRDB
import Journal

extension Replica {
    /// Returns the name of a table as the journal spells it.
    ///
    /// - Throws: ``Failure`` for a table that the journal does not know.
    func knownTable(_ name: String) throws -> String {
        let names = try read { db in Set(try ShapeRegistry(db).entries.values.map(\.shape.table)).sorted() }
        let folded = SQLText.foldedName(name)
        guard let known = names.first(where: { SQLText.foldedName($0) == folded }) else {
            throw Failure(
                "The journal knows no table named \(name)",
                hint: names.isEmpty
                    ? "nothing is tracked in this file" : "it knows: \(names.prefix(20).joined(separator: ", "))")
        }
        return known
    }
}
