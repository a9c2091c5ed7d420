import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

/// The settings of `syncd run`, from flags or from a file with the same names.
struct Configuration: Sendable, Hashable {
    var listen: ListenAddress?
    var peers: [String] = []
    var tokenFile: String?
    var tlsCertificate: String?
    var tlsKey: String?
    var tlsAuthority: String?
    var logLevel: Logger.Level?
    /// Days for which the ledger keeps conflicts.
    var conflictDays: Int?
    /// Conflicts of one row that the ledger keeps.
    var conflictsPerRow: Int?

    /// The names in the file, which are the same as those of the flags.
    enum Key: String, CaseIterable, CodingKey {
        case listen
        case peers = "peer"
        case tokenFile = "token-file"
        case tlsCertificate = "tls-cert"
        case tlsKey = "tls-key"
        case tlsAuthority = "tls-ca"
        case logLevel = "log-level"
        case conflictDays = "conflict-days"
        case conflictsPerRow = "conflicts-per-row"
    }
}

extension Configuration: Decodable {
    /// Refuses unknown keys: a misspelled `token-file` must not start a daemon without a token.
    init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let unknown = names.sorted().first(where: { Key(rawValue: $0) == nil }) {
            throw Failure(
                "unknown key \"\(unknown)\"",
                hint: "The keys are: " + Key.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let container = try decoder.container(keyedBy: Key.self)
        listen = try container.decodeIfPresent(ListenAddress.self, forKey: .listen)
        peers = try container.decodeIfPresent([String].self, forKey: .peers) ?? []
        tokenFile = try container.decodeIfPresent(String.self, forKey: .tokenFile)
        tlsCertificate = try container.decodeIfPresent(String.self, forKey: .tlsCertificate)
        tlsKey = try container.decodeIfPresent(String.self, forKey: .tlsKey)
        tlsAuthority = try container.decodeIfPresent(String.self, forKey: .tlsAuthority)
        logLevel = try container.decodeIfPresent(String.self, forKey: .logLevel).map { name in
            guard let level = Logger.Level(rawValue: name) else {
                throw Failure(
                    "unknown log level \"\(name)\"",
                    hint: "The levels are: " + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return level
        }
        conflictDays = try Configuration.positive(container, .conflictDays)
        conflictsPerRow = try Configuration.positive(container, .conflictsPerRow)
    }

    private static func positive(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Int? {
        guard let number = try container.decodeIfPresent(Int.self, forKey: key) else { return nil }
        guard (1...1_000_000).contains(number) else {
            throw Failure("unusable \(key.rawValue): \(number)", hint: "Give a number from 1 to 1 000 000")
        }
        return number
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension Configuration {
    /// The size of the largest file that is read as a configuration.
    static let maximumBytes = 1 << 20

    /// Reads a JSON object from the file at `path`.
    ///
    /// - Throws: ``Failure`` that names the file and the key.
    static func load(from path: String) throws -> Configuration {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                "The configuration file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "Check the path and its permissions")
        }
        let data: Data
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            data = try handle.read(upToCount: maximumBytes + 1) ?? Data()
        } catch {
            throw Failure(
                "The configuration file \(path) cannot be read",
                hint: "Name a file that holds a JSON object; docs/CLI.md shows one")
        }
        guard data.count <= maximumBytes else {
            throw Failure(
                "The configuration file \(path) is larger than \(maximumBytes) bytes",
                hint: "Name a file that holds a JSON object; docs/CLI.md shows one")
        }
        do {
            return try JSONDecoder().decode(Configuration.self, from: data)
        } catch let failure as Failure {
            throw Failure("The configuration file \(path) has an \(failure.message)", hint: failure.hint)
        } catch let error as DecodingError {
            throw Failure(
                "The configuration file \(path) cannot be used: \(Configuration.describe(error))",
                hint: "docs/CLI.md shows an example")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context) where !context.codingPath.isEmpty,
            .valueNotFound(_, let context) where !context.codingPath.isEmpty:
            "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has a value of the wrong type"
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\": \(context.debugDescription)"
        default: "it is not a JSON object"
        }
    }

    /// The standard limits of replication with the changes of this configuration.
    var limits: Limits {
        var limits = Limits.standard
        if let conflictDays { limits.conflictRetention.days = conflictDays }
        if let conflictsPerRow { limits.conflictRetention.entriesPerKey = conflictsPerRow }
        return limits
    }

    /// Returns this configuration with the settings of `flags` on top: a flag wins over the file, and the
    /// peers of both are followed.
    func overridden(by flags: Configuration) -> Configuration {
        var result = self
        result.listen = flags.listen ?? listen
        result.peers += flags.peers
        result.tokenFile = flags.tokenFile ?? tokenFile
        result.tlsCertificate = flags.tlsCertificate ?? tlsCertificate
        result.tlsKey = flags.tlsKey ?? tlsKey
        result.tlsAuthority = flags.tlsAuthority ?? tlsAuthority
        result.logLevel = flags.logLevel ?? logLevel
        result.conflictDays = flags.conflictDays ?? conflictDays
        result.conflictsPerRow = flags.conflictsPerRow ?? conflictsPerRow
        return result
    }
}
