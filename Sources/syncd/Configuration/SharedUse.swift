import Foundation
import Journal

/// What two databases of one process cannot share: a file, and an address of the listener.
enum SharedUse {
    /// Says of each database what an earlier one has already.
    static func mistakes(_ databases: [ConfigurationCheck.Database]) -> [ConfigurationMistake] {
        var mistakes: [ConfigurationMistake] = []
        for (index, second) in databases.enumerated() {
            for first in databases[..<index] {
                let (earlier, later) = (first.name ?? "", second.name ?? "")
                if let address = sharedAddress(first.configuration, second.configuration) {
                    mistakes.append(
                        ConfigurationMistake(
                            "\(earlier) and \(later) both listen on \(address)",
                            hint: "Give each database an address of its own, such as another port",
                            key: ConfigurationKey.listen.rawValue,
                            at: second.configuration.places[.listen] ?? second.place))
                }
                if let path = second.configuration.database, let other = first.configuration.database,
                    isSameFile(path, other)
                {
                    mistakes.append(
                        ConfigurationMistake(
                            "\(earlier) and \(later) both are the file \(path)",
                            hint: "One daemon serves a file: leave one of them out, and give the other all peers",
                            key: ConfigurationKey.database.rawValue,
                            at: second.configuration.places[.database] ?? second.place))
                }
            }
        }
        return mistakes
    }

    /// The address of `second`, when both cannot listen; nil when they can.
    private static func sharedAddress(_ first: Configuration, _ second: Configuration) -> ListenAddress? {
        // An address that cannot be read is a mistake already.
        for configuration in [first, second]
        where configuration.listen == nil && configuration.places[.listen] != nil {
            return nil
        }
        let address = second.listen ?? .standard
        return address.overlaps(first.listen ?? .standard) ? address : nil
    }

    /// True for two names of one file: of the same path, by symbolic links, or by hard links.
    private static func isSameFile(_ path: String, _ other: String) -> Bool {
        let files = SystemFiles()
        if files.resolved(path) == files.resolved(other) { return true }
        if URL(fileURLWithPath: path).standardizedFileURL == URL(fileURLWithPath: other).standardizedFileURL {
            return true
        }
        guard let first = try? files.status(of: path), let second = try? files.status(of: other) else { return false }
        return first.device == second.device && first.inode == second.inode
    }
}

extension ListenAddress {
    /// True when two listeners cannot have both addresses at once. Port 0 takes a free one each time.
    func overlaps(_ other: ListenAddress) -> Bool {
        guard port == other.port, port != 0 else { return false }
        let (first, second) = (bindings, other.bindings)
        return !first.isDisjoint(with: second) || first.contains(.all) || second.contains(.all)
            || first.contains(.allOfIPv4) && second.contains { $0.isIPv4 }
            || second.contains(.allOfIPv4) && first.contains { $0.isIPv4 }
    }

    /// What a host name can be bound to.
    private enum Binding: Hashable {
        /// `::`, with the addresses of IPv4.
        case all
        /// `0.0.0.0`.
        case allOfIPv4
        case address([UInt8])
        case name(String)

        /// True for a name, too: it may mean an address of IPv4.
        var isIPv4: Bool {
            switch self {
            case .all, .allOfIPv4, .name: true
            case .address(let bytes): bytes.count == 4
            }
        }
    }

    /// `localhost` may be either of two addresses.
    private var bindings: Set<Binding> {
        if host.lowercased() == "localhost" {
            return [.address([127, 0, 0, 1]), .address([UInt8](repeating: 0, count: 15) + [1])]
        }
        var v4 = in_addr()
        if inet_pton(AF_INET, host, &v4) == 1 {
            return [v4.s_addr == 0 ? .allOfIPv4 : .address(withUnsafeBytes(of: &v4) { Array($0) })]
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return [.name(host.lowercased())] }
        let bytes = withUnsafeBytes(of: &v6) { Array($0) }
        return [bytes.allSatisfy { $0 == 0 } ? .all : .address(bytes)]
    }
}
