import Journal
import Testing

@testable import SyncdCore

@Suite("A picture of who follows whom")
struct TopologyPictureTests {
    private func report(_ change: (inout StatusReport) -> Void) async throws -> StatusReport {
        let workspace = Workspace()
        let replica = try Replica.openReader(at: try await workspace.makeReplica())
        var report = try StatusReport(replica, countingRows: false)
        try replica.closeReader()
        change(&report)
        return report
    }

    private static func peer(_ url: String, _ origin: OriginID? = nil, error: String? = nil) -> StatusReport.Peer {
        StatusReport.Peer(url: url, origin: origin, lag: nil, lastContact: nil, lastError: error)
    }

    @Test("alone, it is one circle and a sentence")
    func alone() async throws {
        let picture = TopologyPicture(try await report { _ in })
        #expect(picture.sentence == "This replica follows no peer; 0 replicas follow this one.")
        #expect(picture.html.text.split(separator: "<circle").count == 2)
    }

    @Test("peers, followers, and those that are both, are told apart, and a peer that fails is marked")
    func neighbours() async throws {
        let (first, second) = (OriginID.random(), OriginID.random())
        let picture = TopologyPicture(
            try await report {
                $0.peers = [
                    Self.peer("https://oslo.example.org:7707/x", first), Self.peer("/data/b.sqlite", error: "gone"),
                ]
                $0.followers = [first, second]
            })
        #expect(
            picture.sentence
                == "This replica follows 2 peers, 1 of them without success; 2 replicas follow this one.")
        #expect(picture.followed.map(\.followsUs) == [true, false])
        #expect(picture.followers.map(\.name) == [second.short])
        let html = picture.html.text
        #expect(html.contains("oslo.exa…org:7707") && html.contains("b.sqlite") && html.contains("link failing"))
        #expect(html.split(separator: "class=\"head\"").count == 4)
    }

    @Test("many replicas make no large picture, and hostile names are text")
    func many() async throws {
        let picture = TopologyPicture(
            try await report {
                $0.peers = (0..<500).map { Self.peer("http://<b>\($0)</b>:1") }
                $0.followers = (0..<500).map { _ in OriginID.random() }
            })
        let html = picture.html.text
        #expect(html.utf8.count < 16_000 && html.contains("976 more are not drawn"), "\(html.utf8.count)")
        #expect(!html.contains("<b>"))
    }
}
