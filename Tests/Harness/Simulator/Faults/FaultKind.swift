/// What goes wrong, each kind by itself: a life draws which of them there are, a shrinker takes them away one by one.
public enum FaultKind: String, CaseIterable, Codable, Sendable {
    // Processes.
    case crash
    case crashBeforeCommit = "crash-before-commit"
    case crashAfterCommit = "crash-after-commit"
    case writerCrash = "writer-crash"
    case stop
    case lock

    // The network, as things that happen for a while.
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

    // Files and names.
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
    /// Programs, or daemons too, whose commits are not synced; it happens when the power goes.
    case normalCommits = "normal-commits"
    case bitRot

    // No fault by itself.
    /// All programs overwrite the same few rows.
    case contention
    /// Daemons do in small pieces, at odd moments or not at all what they may: see ``BuggifyPoint``.
    case buggify

    static let ofProcesses: Set<FaultKind> = [
        .crash, .crashBeforeCommit, .crashAfterCommit, .writerCrash, .stop, .lock,
    ]
    static let ofNetwork: Set<FaultKind> = [
        .partition, .oneWay, .refused, .requestCut, .requestFlipped, .answerCut, .answerLost, .answerFlipped,
        .duplicated, .replayed, .stalled,
    ]
    static let ofClocks: Set<FaultKind> = [.jump, .jumpOfYears, .frozenClock]
    static let ofIdentity: Set<FaultKind> = [.restore, .restoreInPlace, .clone, .rekey]

    static let ofDisks: [FaultKind] = [.crashAtWrite, .powerLoss, .diskError, .diskFull, .diskBusy]

    /// What a plan draws from one stream, in this order: a kind in between would change every life.
    static let drawn = allCases.filter { !drawnElsewhere.contains($0) }
    private static let drawnElsewhere = [.byzantinePeer, .normalCommits, .bitRot, .contention, .buggify] + ofDisks
}
