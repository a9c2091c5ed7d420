import Testing

@testable import Journal

@Suite("Whether a virtual table has rows of its own")
struct VirtualTableTests {
    @Test(
        "a full-text index of other rows has none",
        arguments: [
            ("CREATE VIRTUAL TABLE i USING fts5 (a, content='t')", true),
            ("CREATE VIRTUAL TABLE i USING fts5 (a, content = '')", true),
            ("create virtual table i using FTS4(content=\"t\", a)", true),
            ("CREATE VIRTUAL TABLE v USING fts5vocab (i, row)", true),
            ("CREATE VIRTUAL TABLE i USING fts5 (a)", false),
            ("CREATE VIRTUAL TABLE i USING fts5 (content, title)", false),
            ("CREATE VIRTUAL TABLE \"using\" USING rtree (id, a, b)", false),
            ("CREATE VIRTUAL TABLE r USING rtree (id, a, b)", false), ("", false),
            ("CREATE VIRTUAL TABLE x USING", false),
        ])
    func derived(sql: String, isDerived: Bool) {
        #expect(VirtualTable(sql: sql).isDerived == isDerived)
    }
}
