import Journal

/// What of a configuration that was read again the daemons of a process can take over.
struct ReloadPlans: Sendable, Equatable {
    /// A plan for each running database, in their order; nil for one that the configuration has no more. It goes
    /// on as it is.
    let plans: [ReloadPlan?]
    /// The names of the running databases, in the same order; nil for the only one.
    let names: [String?]
    /// The databases that are new in the configuration.
    let added: [String]
    /// True when the configuration had one database and has several now, or the other way round.
    let isRearranged: Bool

    /// - Parameters:
    ///   - running: The settings of the running daemons.
    ///   - wanted: Those of the configuration.
    ///   - most: How many peers all daemons together may follow.
    /// - Throws: ``Failure`` when what can change now does not fit what cannot. Nothing is to be changed then.
    init(from running: [DaemonSettings], to wanted: [DaemonSettings], peersAtMost most: Int) throws {
        let peers = wanted.reduce(0) { $0 + $1.peers.count }
        guard peers <= most else {
            throw Failure(
                "This process has reserved file descriptors for \(most) peers, and the configuration names \(peers)",
                hint: "Start the daemon again")
        }
        names = running.map(\.name)
        isRearranged = names.contains(nil) != wanted.contains { $0.name == nil }
        guard !isRearranged else {
            plans = running.map { _ in nil }
            added = []
            return
        }
        plans = try running.map { running in
            guard let wanted = wanted.first(where: { $0.name == running.name }) else { return nil }
            do {
                return try ReloadPlan(from: running, to: wanted)
            } catch {
                throw Failure(of: running.name, error)
            }
        }
        added = wanted.compactMap(\.name).filter { [names] in !names.contains($0) }
    }

    /// The databases that the configuration has no more.
    var removed: [String] {
        isRearranged ? [] : zip(names, plans).compactMap { name, plan in plan == nil ? name : nil }
    }

    /// The keys by which databases came or went: they need a restart.
    private var waiting: [String] {
        guard !isRearranged else { return [ConfigurationKey.databases.rawValue] }
        return (added + removed).map { "\($0).\(ConfigurationKey.database.rawValue)" }
    }

    /// The keys, with the names of their databases where there are several: `shop.peer`.
    var json: JSONValue {
        func all(_ path: KeyPath<ReloadPlan, [ConfigurationKey]>) -> [String] {
            zip(names, plans).flatMap { name, plan in
                (plan?[keyPath: path] ?? []).map { key in name.map { "\($0).\(key.rawValue)" } ?? key.rawValue }
            }
        }
        return .object([
            "applied": .array(all(\.applied).map { .string($0) }),
            "needs_restart": .array((all(\.waiting) + waiting).map { .string($0) }),
        ])
    }

    /// What the log says about the process as a whole: nil when that is nothing.
    var summary: String? {
        if isRearranged {
            return "the configuration has changed between one database and several, which needs a restart"
        }
        var parts: [String] = []
        if !added.isEmpty { parts.append("new, and served after a restart: " + added.joined(separator: ", ")) }
        if !removed.isEmpty {
            parts.append("in the configuration no more, and served until a restart: " + removed.joined(separator: ", "))
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
