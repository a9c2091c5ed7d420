import Journal

/// Checks that one state of knowledge and schema has one content, on any machine at any time (P1).
struct KnowledgeMap {
    private struct Name: Hashable {
        let vector: VersionVector
        let schema: String
    }

    private var seen: [Name: (digest: UInt64, machine: Int)] = [:]

    /// Every origin in the vectors.
    var origins: [OriginID] { Set(seen.keys.flatMap { $0.vector.entries.map(\.origin) }).sorted() }

    /// Removes the states that know more of `origin` than `version`.
    mutating func forget(_ origin: OriginID, beyond version: Int64) {
        seen = seen.filter { $0.key.vector[origin] <= version }
    }

    /// - Returns: A machine that knew the same and held something else; nil when there is none.
    mutating func note(_ vector: VersionVector, schema: String, _ digest: UInt64, machine: Int) -> Int? {
        let name = Name(vector: vector, schema: schema)
        guard let known = seen[name] else {
            seen[name] = (digest, machine)
            return nil
        }
        return known.digest == digest ? nil : known.machine
    }
}
