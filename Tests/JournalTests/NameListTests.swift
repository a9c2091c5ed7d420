import Journal
import Testing

@Suite("Lists of names in the journal's tables")
struct NameListTests {
    @Test(
        "a list reads back as it was written, byte for byte",
        arguments: [
            [], [""], ["id"], ["id", "name", "full name"], ["a,b", "[", "]", ","], ["\u{308}x", "a\u{308}", "\u{E4}"],
            ["say \"hi\"", "back\\slash", "a/b"], ["line\nbreak", "\u{1}", "tab\t"], ["\u{1F600}", "名前"], ["", "", ""],
        ])
    func roundTrip(names: [String]) throws {
        let read = try NameList.decode(NameList.encode(names))
        #expect(read.map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }

    @Test("JSON in the form of other writers is read, too")
    func spaces() throws {
        #expect(try NameList.decode(" [ \"a\" , \"b\\u0063\" ] ") == ["a", "bc"])
        #expect(try NameList.decode("[ ]") == [])
    }

    @Test(
        "anything else is damage",
        arguments: [
            "", "[", "]", "[]]", "[,]", "[\"a\"", "\"a\"]", "[\"a\"\"b\"]", "[,\"a\"]", "[\"a\"]x", "x[\"a\"]", "[1]",
            "{}", "[\"a\n\"]", "[[\"a\"]]", "[\"a\" \"b\"]", "[null]", "[\"a]",
        ])
    func damage(json: String) {
        #expect(throws: JournalError.self) { try NameList.decode(json) }
    }
}
