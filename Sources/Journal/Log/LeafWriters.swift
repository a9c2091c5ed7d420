extension JournalReader {
    /// The origins whose changes this replica gives to others, earlier identities first; nil for all of them.
    ///
    /// A leaf gives what it wrote itself since it was made. What it got from others has gaps.
    package var given: [OriginID]? {
        guard let leaf = identity.leaf else { return nil }
        return origins.origins.sorted { $0.key < $1.key }.filter { number, origin in
            number > leaf.knownOrigins && (origin == identity.origin || origins.retired.contains(number))
        }.map(\.value)
    }
}
