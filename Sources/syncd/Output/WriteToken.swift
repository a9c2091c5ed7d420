import ArgumentParser
import Journal

/// Names a write, for readers of other replicas that want to see it: its origin, and its version there.
/// `Store` makes the same tokens.
///
/// A token is no secret, and gives no access.
struct WriteToken: Sendable, Hashable {
    let origin: OriginID
    /// 0 when the origin has written nothing yet.
    let version: Int64
}

extension WriteToken: LosslessStringConvertible {
    /// `<32 hexadecimal digits>-<version>`
    var description: String { "\(origin)-\(version)" }

    init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let origin = OriginID(hex: String(parts[0])), let version = Int64(parts[1]),
            version >= 0, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        self.init(origin: origin, version: version)
    }
}

extension WriteToken: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
