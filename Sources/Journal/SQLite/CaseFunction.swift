import GRDB

/// An SQL function that is true for a text with letters beyond ASCII that have case. Where a program's collation
/// is mapped to NOCASE, which knows the 26 letters of ASCII only, the two may order such a text otherwise.
package enum CaseFunction {
    package static let name = "tandem_has_case_beyond_ascii"

    /// Adds the function to a connection that does not have it.
    ///
    /// - Throws: Errors of SQLite.
    package static func add(to db: Database) throws {
        let isThere = try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM pragma_function_list WHERE name = ?)"),
            arguments: [name])
        guard isThere != true else { return }
        db.add(
            function: DatabaseFunction(name, argumentCount: 1, pure: true) { values in
                guard case .string(let text)? = values.first?.storage else { return false }
                return CaseFolding.isBeyondASCII(text)
            })
    }
}
