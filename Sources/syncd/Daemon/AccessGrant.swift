import Journal

/// What a caller may do by what identifies it.
struct AccessGrant: Sendable, Hashable {
    /// For each scope, the tables that it is limited to; none for all tables.
    private var limits: [TokenScope: TableScope?] = [:]

    /// Allows nothing.
    init() {}

    /// - Parameter tables: The tables that the scopes are limited to; nil for all.
    init(_ scopes: Set<TokenScope>, _ tables: TableScope?) {
        for scope in scopes { limits[scope] = .some(tables) }
    }

    var scopes: Set<TokenScope> { Set(limits.keys) }

    /// What either allows.
    func union(_ other: AccessGrant) -> AccessGrant {
        var sum = self
        sum.limits.merge(other.limits) { AccessGrant.either($0, $1) }
        return sum
    }

    /// The tables that a caller is limited to where one of `scopes` is needed; nil for all.
    func tables(for scopes: [TokenScope]) -> TableScope? {
        let allowed = scopes.compactMap { limits[$0] }
        guard let first = allowed.first else { return nil }
        return allowed.dropFirst().reduce(first) { AccessGrant.either($0, $1) }
    }

    private static func either(_ first: TableScope?, _ second: TableScope?) -> TableScope? {
        guard let first, let second else { return nil }
        return first.union(second)
    }
}
