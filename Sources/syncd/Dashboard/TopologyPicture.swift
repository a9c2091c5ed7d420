import Foundation
import Journal

/// A picture of who follows whom, as this replica knows it: the peers that it follows, the replicas whose pulls
/// wait here, and those that it knows by their changes only.
///
/// The protocol does not tell whom other replicas follow, so lines between them are not drawn.
struct TopologyPicture {
    /// The most replicas on each side, and of those known by changes.
    static let most = 12

    /// A replica with a line to this one.
    struct Neighbour: Hashable {
        let name: String
        let isFollowed: Bool
        let followsUs: Bool
        /// True when the last exchange with it failed.
        var isFailing = false
    }

    /// The peers that are followed, in the order of the configuration.
    let followed: [Neighbour]
    /// The other replicas that follow this one.
    let followers: [Neighbour]
    /// The short origins of the other replicas whose changes are known.
    let others: [String]
    private let name: String

    /// - Parameter report: The status of a running daemon.
    init(_ report: StatusReport) {
        let pulling = Set(report.followers)
        followed = report.peers.map { peer in
            Neighbour(
                name: TopologyPicture.shortened(peer.url), isFollowed: true,
                followsUs: peer.origin.map(pulling.contains) ?? false, isFailing: peer.lastError != nil)
        }
        let peers = Set(report.peers.compactMap(\.origin))
        followers = report.followers.filter { !peers.contains($0) }.map {
            Neighbour(name: $0.short, isFollowed: false, followsUs: true)
        }
        others = report.vector.entries.map(\.origin).filter {
            $0 != report.origin && !peers.contains($0) && !pulling.contains($0)
        }.map(\.short)
        name = report.origin.short
    }

    /// What the picture shows, in words.
    var sentence: String {
        var parts = [
            "This replica follows " + (followed.isEmpty ? "no peer" : ConsoleText.count(followed.count, "peer"))
        ]
        let failing = followed.count(where: \.isFailing)
        if failing > 0 { parts[0] += ", \(failing) of them without success" }
        let following = (followed + followers).count(where: \.followsUs)
        parts.append(ConsoleText.count(following, "replica follows", "replicas follow") + " this one")
        if !others.isEmpty {
            parts.append(ConsoleText.count(others.count, "replica is", "replicas are") + " known by changes only")
        }
        return parts.joined(separator: "; ") + "."
    }

    var html: HTML {
        let right = followed.prefix(TopologyPicture.most)
        let left = followers.prefix(TopologyPicture.most)
        let around = others.prefix(TopologyPicture.most)
        let height = max(right.count, left.count, 3) * 26 + 14
        let middle = Double(height) / 2
        let bottom = (around.count + 3) / 4 * 22
        func row(_ index: Int, of count: Int) -> Double { middle + (Double(index) - Double(count - 1) / 2) * 26 }
        let lines: [HTML] =
            right.enumerated().map { node($1, x: 246, y: row($0, of: right.count), middle) }
            + left.enumerated().map { node($1, x: 114, y: row($0, of: left.count), middle) }
        let dots: [HTML] = around.enumerated().map { index, name in
            let (x, y) = (Int64(index % 4 * 88 + 12), Int64(height + index / 4 * 22 + 8))
            return """
                <circle cx="\(id: x)" cy="\(id: y)" r="4"/><text x="\(id: x + 9)" y="\(id: y + 4)">\(name)</text>
                """
        }
        let hidden = max(followed.count - right.count, 0) + max(followers.count - left.count, 0)
        let more: HTML? = hidden > 0 ? "<p class=\"soft\">\(hidden) more are not drawn.</p>" : nil
        let center = Int64(middle)
        return """
            <p>\(sentence) An arrow leads from a replica to one that it follows. What replicas elsewhere follow is not \
            known here.</p>
            <svg class="topology" role="img" aria-label="\(sentence)" viewBox="0 0 360 \(id: Int64(height + bottom))">
            \(lines)<circle class="own" cx="180" cy="\(id: center)" r="36"/>\
            <text class="own" x="180" y="\(id: center + 4)">\(name)</text>\(dots)</svg>\(more)
            """
    }

    /// A replica with its line, and a head at each end that is followed.
    private func node(_ neighbour: Neighbour, x: Double, y: Double, _ middle: Double) -> HTML {
        let (dx, dy) = (x - 180, y - middle)
        let length = max((dx * dx + dy * dy).squareRoot(), 1)
        let (ux, uy) = (dx / length, dy / length)
        let from = (180 + ux * 37, middle + uy * 37)
        let to = (x - ux * 5, y - uy * 5)
        var heads = ""
        if neighbour.isFollowed { heads += TopologyPicture.head(to, ux, uy) }
        if neighbour.followsUs { heads += TopologyPicture.head(from, -ux, -uy) }
        let kind = neighbour.isFailing ? "link failing" : "link"
        let isRight = dx > 0
        let label = isRight ? x + 8 : x - 8
        return """
            <g class="\(kind)"><path d="M\(TopologyPicture.text(from))L\(TopologyPicture.text(to))"/>\
            <path class="head" d="\(heads)"/><circle cx="\(id: Int64(x))" cy="\(id: Int64(y))" r="4"/>\
            <text class="\(isRight ? "right" : "left")" x="\(id: Int64(label))" y="\(id: Int64(y) + 4)">\(neighbour.name)</text></g>

            """
    }

    /// A triangle whose tip is at `tip`, in the direction of the unit vector.
    private static func head(_ tip: (Double, Double), _ ux: Double, _ uy: Double) -> String {
        let (bx, by) = (tip.0 - ux * 8, tip.1 - uy * 8)
        return "M\(text(tip))L\(text((bx - uy * 4, by + ux * 4)))L\(text((bx + uy * 4, by - ux * 4)))z"
    }

    private static func text(_ point: (Double, Double)) -> String {
        "\((point.0 * 10).rounded() / 10) \((point.1 * 10).rounded() / 10)"
    }

    /// The host and port of an address, or the name of a file; at most 17 characters.
    static func shortened(_ url: String) -> String {
        var name = url
        if let scheme = name.firstRange(of: "://") {
            name = String(name[scheme.upperBound...].prefix { $0 != "/" })
        } else {
            name = String(name.split(separator: "/").last ?? "")
        }
        guard name.count > 17 else { return name }
        return name.prefix(8) + "…" + name.suffix(8)
    }
}
