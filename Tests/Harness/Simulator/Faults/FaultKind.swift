/// A kind of fault. A scenario draws the kinds that it has, and a shrinker removes them one by one.
package enum FaultKind: String, CaseIterable, Codable, Sendable {
    // Processes.
    case crash
    case crashBeforeCommit = "crash-before-commit"
    case crashAfterCommit = "crash-after-commit"
    case writerCrash = "writer-crash"
    case stop
    case lock

    // The network, for a while.
    case partition
    case oneWay = "one-way"

    // The network, for single requests.
    case refused
    case requestCut = "request-cut"
    case requestFlipped = "request-flipped"
    case answerCut = "answer-cut"
    case answerLost = "answer-lost"
    case answerFlipped = "answer-flipped"
    case duplicated
    case replayed
    case stalled

    // Clocks.
    case jump
    case jumpOfYears = "jump-of-years"
    case frozenClock = "frozen-clock"

    // Files and identities.
    case restore
    case restoreInPlace = "restore-in-place"
    case clone
    case rekey

    // Addresses that never become a peer.
    case byzantinePeer = "bad-peer"

    // Disks.
    case crashAtWrite = "crash-at-write"
    case powerLoss = "power-loss"
    case diskError = "disk-error"
    case diskFull = "disk-full"
    case diskBusy = "disk-busy"

    // What a disk keeps.
    /// Programs, and sometimes daemons, do not sync their commits. It has an effect at a loss of power.
    case normalCommits = "normal-commits"
    case bitRot = "bit-rot"

    // Not faults by themselves.
    /// All programs overwrite the same few rows.
    case contention
    /// Daemons use small steps, act at odd moments, or skip optional work; see ``BuggifyPoint``.
    case buggify
    /// Daemons compact their journals within the scenario.
    case compaction
    /// An operator forgets a replica that still lives.
    case forget
    /// Programs run migrations that say so (`_journal_marks`).
    case markedMigration = "marked-migration"
    /// Machines share an archive on an object store.
    case archive
    /// Some machines that follow each other push only, or pull only.
    case directions
    /// Machines share another archive, too. Some follow both.
    case secondArchive = "second-archive"
    /// Some of these machines reach the first archive by hubs.
    case hub

    // The object store.
    case storeDown = "store-down"
    /// The store gets the content of a backup.
    case storeRestored = "store-restored"
    /// An object is cut or removed.
    case storeDamage = "store-damage"

    /// The process of a hub ends.
    case hubCrash = "hub-crash"
    /// A machine that starts again reaches the archive in another way: by a hub, by another one, or itself.
    case hubMove = "hub-move"

    static let ofProcesses: Set<FaultKind> = [
        .crash, .crashBeforeCommit, .crashAfterCommit, .writerCrash, .stop, .lock,
    ]
    static let ofNetwork: Set<FaultKind> = [
        .partition, .oneWay, .refused, .requestCut, .requestFlipped, .answerCut, .answerLost, .answerFlipped,
        .duplicated, .replayed, .stalled,
    ]
    static let ofClocks: Set<FaultKind> = [.jump, .jumpOfYears, .frozenClock]
    static let ofIdentity: Set<FaultKind> = [.restore, .restoreInPlace, .clone, .rekey]

    static let ofStores: [FaultKind] = [.storeDown, .storeRestored, .storeDamage]
    static let ofDisks: [FaultKind] = [.crashAtWrite, .powerLoss, .diskError, .diskFull, .diskBusy]

    /// The kinds that a plan draws from one stream, in this order. A new kind between them would change every
    /// scenario.
    static let drawn = allCases.filter { !drawnElsewhere.contains($0) }
    private static let drawnElsewhere =
        [.byzantinePeer, .normalCommits, .bitRot, .contention, .buggify, .compaction, .forget, .markedMigration]
        + ofDisks + [.directions, .archive, .secondArchive] + ofStores + [.hub, .hubCrash, .hubMove]
}
