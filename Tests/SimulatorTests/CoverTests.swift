import Testing

@testable import Simulator

@Suite("Few scenarios for all rare paths")
struct CoverTests {
    private func counts(events: Int, _ marks: [Mark], _ faults: [FaultKind] = []) -> Counts {
        var counts = Counts()
        counts.events = events
        for mark in marks { counts.note(mark) }
        for fault in faults { counts.note(fault) }
        return counts
    }

    @Test("each path is taken three times where three scenarios take it, and by the shorter ones")
    func choice() {
        var cover = Cover()
        var muted = Campaign.Request(seed: 9)
        muted.mute = [.crash]
        cover.note(Campaign.Request(seed: 4), counts(events: 1_000, [.returned, .compacted]))
        cover.note(muted, counts(events: 10, [.compacted], [.stop]))
        cover.note(Campaign.Request(seed: 5), counts(events: 20, [.compacted]))
        cover.note(Campaign.Request(seed: 6), counts(events: 30, [.compacted]))
        cover.note(Campaign.Request(seed: 8), counts(events: 40, [.compacted]))
        cover.note(Campaign.Request(seed: 7), counts(events: 5, []))
        #expect(
            cover.choices == [
                Cover.Choice(words: ["4", "1"], reasons: ["returned"]),
                Cover.Choice(words: ["9", "1", "--mute", "crash"], reasons: ["journal-compacted", "stop"]),
                Cover.Choice(words: ["5", "1"], reasons: ["journal-compacted"]),
                Cover.Choice(words: ["6", "1"], reasons: ["journal-compacted"]),
            ])
        #expect(cover.choices.map(\.lines).first == "# returned\n4 1\n")
    }

    @Test("no scenarios need none")
    func none() {
        #expect(Cover().choices.isEmpty)
    }
}
