import Foundation
import Journal
import Sync

/// Whether all is well with a replica, and what is not.
struct Verdict: Sendable, Hashable {
    /// One thing that needs a look.
    struct Concern: Sendable, Hashable {
        /// A sentence without its full stop.
        let text: String
        /// The page that says more; nil for the page on which it stands.
        var page: String?
        /// The command that says more, or helps.
        var command: String?
    }

    let concerns: [Concern]
    /// How many peers are followed, and how many of them have everything.
    private let peers: Int
    private let levelPeers: Int

    init(_ report: StatusReport) {
        peers = report.peers.count
        levelPeers = report.peers.count { ($0.lag?.changes == 0 || $0.direction == .pull) && $0.lastError == nil }
        var concerns: [Concern] = []
        func add(_ text: String, page: String? = nil, command: String? = nil) {
            concerns.append(Concern(text: text, page: page, command: command))
        }
        if let refused = report.configurationRefused { add("The last reload changed nothing: \(refused)") }
        for peer in report.peers {
            if !peer.mismatches.isEmpty {
                add(
                    "\(peer.url) has other rows although both know the same changes",
                    command: "syncd verify \(report.path) \(peer.url)")
            }
            if let error = peer.lastError {
                let named = error.contains(peer.url) ? error : "\(peer.url): \(error)"
                let since = peer.lastContact.map { "; the last exchange was at \(ConsoleText.time($0))" } ?? ""
                add(named + since)
            }
            if let offset = peer.clockOffset, offset.magnitude > UInt64(Limits.standard.clockSkewMilliseconds) {
                let time = ConsoleText.duration(Int64(clamping: offset.magnitude))
                add("The clock of \(peer.url) is \(time) \(offset > 0 ? "ahead" : "behind")", command: "syncd clock")
            }
        }
        if report.clocks.isHeldBackByOthers {
            let time = ConsoleText.duration(report.clocks.ownAheadMilliseconds)
            add("Changes of this replica carry times \(time) ahead, and others hold them back", command: "syncd clock")
        }
        let deferred = report.clocks.origins.count { $0.hold != nil }
        if deferred > 0 {
            add(
                ConsoleText.count(deferred, "replica has", "replicas have") + " changes that wait for a clock",
                command: "syncd clock \(report.path)")
        }
        if report.conflicts > 0 {
            add(
                ConsoleText.count(report.conflicts, "conflict waits", "conflicts wait") + " for a decision",
                page: "/conflicts")
        }
        if report.held > 0 {
            add(ConsoleText.count(report.held, "row is", "rows are") + " kept out of the tables", page: "/held")
        }
        let lost = report.untracked.count { $0.cause.losesRows }
        if lost > 0 {
            add(
                ConsoleText.count(lost, "table does", "tables do")
                    + " not replicate although nobody decided so", page: "/tables")
        }
        self.concerns = concerns
    }

    var isGood: Bool { concerns.isEmpty }

    /// All is well, or how much is not, in one sentence.
    var sentence: String {
        guard isGood else { return ConsoleText.count(concerns.count, "thing needs", "things need") + " a look." }
        if peers == 0 { return "All is well here; no peer is followed." }
        let level = levelPeers == peers ? "" : "; changes are on their way to \(peers - levelPeers) of them"
        return "All is well with " + ConsoleText.count(peers, "peer") + level + "."
    }

    var html: HTML {
        let items: [HTML] = concerns.map { concern in
            let link: HTML? = concern.page.map { " <a href=\"\($0)\">Look</a>" }
            let command: HTML? = concern.command.map { " <code>\($0)</code>" }
            return "<li>\(concern.text).\(link)\(command)</li>\n"
        }
        let list: HTML = items.isEmpty ? "" : "<ul>\(items)</ul>"
        let kind: HTML = isGood ? "verdict" : "verdict look"
        return "<div class=\"\(kind)\"><strong>\(sentence)</strong>\(list)</div>\n"
    }
}
