import Foundation
import Journal
import Testing

@testable import SyncdCore

@Suite("Is all well, in one sentence")
struct VerdictTests {
    private func report(_ change: (inout StatusReport) -> Void = { _ in }) async throws -> StatusReport {
        let workspace = Workspace()
        let replica = try Replica.openReader(at: try await workspace.makeReplica())
        var report = try StatusReport(replica)
        try replica.closeReader()
        change(&report)
        return report
    }

    private static func peer(lag: Int64?, error: String? = nil, clock: Int64? = nil) -> StatusReport.Peer {
        StatusReport.Peer(
            url: "http://oslo:1", origin: nil, lag: lag.map { PeerLag(changes: $0, milliseconds: 0) }, lastContact: nil,
            lastError: error, clockOffset: clock)
    }

    @Test("all is well alone, and with peers that have everything or get it")
    func good() async throws {
        #expect(Verdict(try await report()).sentence == "All is well here; no peer is followed.")
        let level = Verdict(try await report { $0.peers = [Self.peer(lag: 0), Self.peer(lag: 0)] })
        #expect(level.isGood && level.sentence == "All is well with 2 peers.")
        let behind = Verdict(try await report { $0.peers = [Self.peer(lag: 0), Self.peer(lag: 3)] })
        #expect(behind.sentence == "All is well with 2 peers; changes are on their way to 1 of them.")
    }

    @Test("each thing that is not well has a sentence, and where to look")
    func bad() async throws {
        let verdict = Verdict(
            try await report {
                $0.configurationRefused = "line 3: unknown key"
                $0.peers = [Self.peer(lag: 2, error: "no route"), Self.peer(lag: 0, clock: -7_200_000)]
            })
        #expect(verdict.sentence == "3 things need a look.")
        #expect(
            verdict.concerns.map(\.text) == [
                "The last reload changed nothing: line 3: unknown key",
                "http://oslo:1: no route",
                "The clock of http://oslo:1 is 2 h behind",
            ])
        #expect(verdict.html.text.contains("verdict look"))
    }

    @Test("sizes have the unit that suits them")
    func sizes() {
        let cases: [(Int64, String)] = [
            (0, "0 KiB"), (512, "0.5 KiB"), (1_024, "1 KiB"), (1_536, "1.5 KiB"), (3_300_000_000, "3.1 GiB"),
            (.max, "8388608 TiB"),
        ]
        for (bytes, text) in cases { #expect(OverviewPage.size(bytes) == text) }
    }
}
