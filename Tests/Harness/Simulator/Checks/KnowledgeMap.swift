import Journal

/// One content for each state of knowledge and schema, whoever has it and whenever (P1).
struct KnowledgeMap {
    private struct Name: Hashable {
        let vector: VersionVector
        let schema: String
    }

    private var seen: [Name: (digest: UInt64, machine: Int)] = [:]

    /// Every origin of which something was known.
    var origins: [OriginID] { Set(seen.keys.flatMap { $0.vector.entries.map(\.origin) }).sorted() }

    /// Drops what knew more of `origin` than `version`.
    mutating func forget(_ origin: OriginID, beyond version: Int64) {
        seen = seen.filter { $0.key.vector[origin] <= version }
    }

    /// - Returns: The machine that knew the same and held something else; nil when all is well.
    mutating func note(_ vector: VersionVector, schema: String, _ digest: UInt64, machine: Int) -> Int? {
        let name = Name(vector: vector, schema: schema)
        guard let known = seen[name] else {
            seen[name] = (digest, machine)
            return nil
        }
        return known.digest == digest ? nil : known.machine
    }
}
