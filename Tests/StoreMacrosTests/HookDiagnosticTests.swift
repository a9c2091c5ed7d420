import Testing

@Suite("Misuse of hooks and of static members")
struct HookDiagnosticTests {
    private static func misuse(_ member: String, _ name: String, _ declaration: String, column: Int, fixed: String)
        -> Misuse
    {
        Misuse(
            member, "Store would not call this '\(name)': it is declared as '\(declaration)'", column: column,
            fixIt: "write '\(fixed)'", fixed: "\(fixed) {}")
    }

    @Test(
        "[43] a hook that Store would not call is refused, and the fix-it writes the one that it calls",
        arguments: [
            misuse(
                "func didUpdate() {}", "didUpdate", "func didUpdate(_ columns: Set<String>)", column: 10,
                fixed: "func didUpdate(_ columns: Set<String>)"),
            misuse(
                "func willUpdate(_ new: Fields) throws {}", "willUpdate",
                "func willUpdate(_ fields: inout Fields) throws", column: 10,
                fixed: "func willUpdate(_ new: inout Fields) throws"),
            misuse(
                "func willInsert(_ fields: inout Fields) {}", "willInsert",
                "static func willInsert(_ fields: inout Fields) throws", column: 10,
                fixed: "static func willInsert(_ fields: inout Fields)"),
            misuse(
                "private func didInsert() {}", "didInsert", "func didInsert()", column: 18, fixed: "func didInsert()"),
            misuse("func didDelete() async {}", "didDelete", "func didDelete()", column: 10, fixed: "func didDelete()"),
            misuse(
                "static func makePrimaryKey() -> Int64 {}", "makePrimaryKey",
                "static func makePrimaryKey() throws -> ID?", column: 17,
                fixed: "static func makePrimaryKey() -> ID?"),
        ])
    func hook(_ misuse: Misuse) {
        misuse.expect()
    }

    @Test("[43] a hook that belongs to an actor is refused")
    func actor() {
        Misuse(
            "@MainActor func didInsert() {}",
            "Store calls 'didInsert' on the thread that commits, so it belongs to no actor: begin a 'Task { @MainActor in … }' in it",
            column: 5, fixIt: "remove '@MainActor'", fixed: "func didInsert() {}"
        ).expect()
    }

    @Test("[43] another standard type than the key's is refused, also in a generic spelling")
    func keys() {
        for type in ["URL?", "Date?", "UInt64?", "Optional<String>"] {
            Self.misuse(
                "static func makePrimaryKey() -> \(type) {}", "makePrimaryKey",
                "static func makePrimaryKey() throws -> ID?", column: 17, fixed: "static func makePrimaryKey() -> ID?"
            ).expect()
        }
    }

    @Test(
        "[35] a list of Store that it would not see is refused",
        arguments: [
            Misuse(
                "let indexes = [Index(\"name\")]", "'indexes' belongs to the model, not to a row: it is static",
                column: 5,
                fixIt: "add 'static'", fixed: "static let indexes = [Index(\"name\")]"),
            Misuse(
                "static let indexes = [\"name\"]", "'indexes' is a list of 'Index', not of names", column: 27,
                fixIt: "write 'Index(\"name\")'", fixed: "static let indexes = [Index(\"name\")]"),
        ])
    func list(_ misuse: Misuse) {
        misuse.expect()
    }
}
