import Journal

/// What of a journal is stable: a decision. A pure function of what is known of the other replicas.
///
/// A change is stable when each replica that counts has merged it, and everything that such a replica wrote
/// before it had is here. A replica counts from the first time that it is heard of until its lease ends or an
/// operator forgets it. A replica that does not count, and comes back, is told so (`behind_horizon`): leases
/// make that rare, and safety does not rest on them.
package struct StableHorizon: Sendable, Hashable {
    /// One other replica.
    package struct Member: Sendable, Hashable {
        /// The replica.
        package let origin: OriginID
        /// When it was last met by anyone, or wrote the last change that is here, in milliseconds since 1970.
        package let lastSeen: Int64
        /// Who met it last; nil when only its changes tell of it.
        package let witness: OriginID?
        /// Why it does or does not hold the horizon back.
        package let standing: Standing
        /// How many of the changes here it is not known to have merged.
        package let unconfirmed: Int64
    }

    /// How a replica counts.
    package enum Standing: String, Sendable, Hashable {
        /// It has acknowledged what it has merged.
        case acknowledged
        /// It counts, and has acknowledged nothing yet. Nothing is stable until then.
        case silent
        /// Its lease has ended, so it does not count.
        case expired
        /// An operator has forgotten it, so it does not count.
        case forgotten
    }

    /// What is stable.
    package let vector: VersionVector
    /// The other replicas, the one that holds the horizon back most first.
    package let members: [Member]

    /// True when no other replica counts.
    package var isAlone: Bool { !members.contains { $0.standing == .acknowledged || $0.standing == .silent } }

    /// What is known of another replica.
    struct Candidate: Sendable, Hashable {
        var origin: OriginID
        /// The time of its last change that is here, or of the last exchange with it, whichever is later, in
        /// milliseconds since 1970; nil for none.
        var lastSeen: Int64?
        /// When an operator forgot it, in milliseconds since 1970; nil when none did.
        var forgotten: Int64?
    }

    /// - Parameters:
    ///   - ours: What this replica has merged and shows, its own changes included.
    ///   - candidates: The other replicas that the file knows, without the earlier identities of this one.
    ///   - acknowledgements: What they said. Replicas that appear only here count too.
    ///   - now: The time in milliseconds since 1970.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds.
    init(
        ours: VersionVector, own: OriginID, candidates: [Candidate], acknowledgements: Acknowledgements, now: Int64,
        lease: Int64
    ) {
        var known = Dictionary(candidates.map { ($0.origin, $0) }) { first, _ in first }
        for origin in acknowledgements.records.keys where origin != own && known[origin] == nil {
            known[origin] = Candidate(origin: origin)
        }
        var stable = ours
        var members: [Member] = []
        for candidate in known.values {
            let record = acknowledgements[candidate.origin]
            // What is still to come was noted by a clock that was ahead.
            let noted = candidate.lastSeen.map { $0 <= now ? $0 : record == nil ? now : 0 }
            let lastSeen = max(noted ?? 0, record?.lastSeen ?? 0)
            let standing: Standing
            if let forgotten = candidate.forgotten, lastSeen <= forgotten {
                standing = .forgotten
            } else if now - lastSeen > lease {
                standing = .expired
            } else {
                standing = record?.usable == nil ? .silent : .acknowledged
            }
            let confirmed = record?.usable?.vector ?? VersionVector()
            if standing == .acknowledged || standing == .silent { stable = stable.common(with: confirmed) }
            let unconfirmed = ours.entries.reduce(Int64(0)) { $0 + max(0, $1.version - confirmed[$1.origin]) }
            members.append(
                Member(
                    origin: candidate.origin, lastSeen: lastSeen, witness: record?.newest.witness, standing: standing,
                    unconfirmed: unconfirmed))
        }
        vector = stable
        self.members = members.sorted {
            $0.unconfirmed == $1.unconfirmed ? $0.origin < $1.origin : $0.unconfirmed > $1.unconfirmed
        }
    }

    /// The replicas that count and are not known to have merged everything here.
    package var holders: [Member] {
        members.filter { ($0.standing == .acknowledged || $0.standing == .silent) && $0.unconfirmed > 0 }
    }
}
