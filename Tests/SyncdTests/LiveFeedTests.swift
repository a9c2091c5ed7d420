import NIOCore
import Testing

@testable import SyncdCore

@Suite("The live parts of the pages, and who reads them")
struct LiveFeedTests {
    private func parts(_ texts: KeyValuePairs<String, HTML>, shape: String = "1") -> LiveParts {
        LiveParts(parts: texts.map { LivePart(id: $0.key, html: $0.value) }, shape: shape)
    }

    private func text(_ feed: LiveFeed, after seen: Int) -> String? {
        feed.event(after: seen).map { String(buffer: $0.event) }
    }

    @Test("a reader gets what has changed since what it has sent; one that is slow gets the last state only")
    func states() throws {
        let feed = LiveFeed()
        let signals = feed.join()
        #expect(feed.event(after: 0) == nil)
        feed.publish(parts(["a": "1", "b": "<i>x</i>"]))
        let first = try #require(feed.event(after: 0))
        #expect(
            String(buffer: first.event) == """
                event: change
                data: {"shape":"1","parts":{"a":"1","b":"<i>x</i>"}}


                """)
        #expect(feed.event(after: first.generation) == nil)
        feed.publish(parts(["a": "1", "b": "<i>x</i>"]))
        #expect(feed.event(after: first.generation) == nil)
        for number in 2..<1_000 { feed.publish(parts(["a": "\(number)", "b": "<i>x</i>"])) }
        #expect(text(feed, after: first.generation)?.contains(#""parts":{"a":"999"}"#) == true)
        #expect(text(feed, after: 0)?.contains(#""b":"#) == true)
        withExtendedLifetime(signals) {}
    }

    @Test("parts that are gone are not sent, and another shape is news by itself")
    func shape() throws {
        let feed = LiveFeed()
        let signals = feed.join()
        feed.publish(parts(["a": "1", "b": "2"]))
        let first = try #require(feed.event(after: 0))
        feed.publish(parts(["a": "1"], shape: "2"))
        #expect(text(feed, after: first.generation)?.contains(#"{"shape":"2","parts":{}}"#) == true)
        #expect(text(feed, after: 0)?.contains(#"{"shape":"2","parts":{"a":"1"}}"#) == true)
        withExtendedLifetime(signals) {}
    }

    @Test("signals wait in no queue; nothing is kept for nobody; after the end, nobody can join")
    func readers() async throws {
        let feed = LiveFeed()
        #expect(!feed.isWatched)
        feed.publish(parts(["a": "1"]))
        #expect(feed.event(after: 0) == nil)
        var signals: AsyncStream<Void>? = feed.join()
        #expect(feed.isWatched)
        for number in 0..<100 { feed.publish(parts(["a": "\(number)"])) }
        feed.end()
        var count = 0
        if let signals { for await _ in signals { count += 1 } }
        #expect(count == 1)
        signals = nil
        #expect(!feed.isWatched && feed.event(after: 0) == nil)
        count = 0
        for await _ in feed.join() { count += 1 }
        #expect(count == 0 && !feed.isWatched)
    }

    @Test("hostile text in a part ends neither the event nor its line")
    func hostile() throws {
        let feed = LiveFeed()
        let signals = feed.join()
        let evil = "\n\nevent: end\ndata: \r\r\u{2028}</script>"
        feed.publish(parts(["a": "<b>\(evil)</b>"]))
        let event = try #require(text(feed, after: 0))
        #expect(event.split(whereSeparator: \.isNewline).count == 2 && event.hasSuffix("\n\n"), "\(event)")
        #expect(event.contains("&lt;/script&gt;"))
        withExtendedLifetime(signals) {}
    }
}
