import Foundation
import Store
import Testing

@Suite("Article: full-text search", .timeLimit(.minutes(1)))
struct FullTextSearchTests {
    let file = ArticleFile()

    @Test("[55] words, prefixes, phrases and FTS5's own query language find their rows")
    func searching() throws {
        let db = try file.open()
        try Note.create(in: db) {
            $0.title = "Local first"; $0.body = "Databases that are local, and meet later"
        }
        try Note.create(in: db) {
            $0.title = "Remote"; $0.body = "First of all, nothing is local first here"
        }
        let hits = try Note.search("local first", weights: ["title": 5], in: db)  // best first
        let snippet = hits.first?.snippet
        let typed = try Note.search(.prefix("databa"), in: db)
        let either = try Note.search(.anyWord("local remote"), in: db)
        let phrase = try Note.search(.phrase("local first"), in: db)
        let raw = try Note.search(.raw("title : (local NOT remote)"), in: db)
        let begun = try Note.search("local", where: \.body != "", limit: 10, in: db)  // any condition
        let later = try Note.search("local", limit: 10, offset: 1, in: db)  // without the best one
        let marked = try Note.highlights("local", marks: SearchMarks(start: "<b>", end: "</b>"), in: db)
        #expect(hits.map(\.object.title) == ["Local first", "Remote"] && snippet?.contains("[") == true)
        #expect(either.count == 2)
        #expect(begun.count == 2 && later.count == 1 && typed.count == 1 && phrase.count == 2 && raw.count == 1)
        #expect(marked.contains { $0.texts["title"] == "<b>Local</b> first" })
    }
}
