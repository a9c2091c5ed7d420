import Journal

/// Every limit of size, count and time in replication.
///
/// There are two kinds. A sender closes a batch, frame or request when it reaches a *target*. Nothing exceeds
/// a *ceiling*: a receiver refuses what a peer sends beyond it. Each ceiling leaves room for the largest unit
/// that a sender within its targets can produce. A simulation may lower all limits.
public struct Limits: Sendable, Hashable {
    // MARK: Batches

    /// Target: changes after which a sender closes a batch.
    public var changesPerBatch = 8_192

    /// Target: summed `Value/weight` in bytes, plus 24 bytes for each entry of a run's causal context,
    /// after which a sender closes a batch. A single heavier change travels in a batch of its own.
    public var bytesPerBatch = 1 << 20

    /// Target: changes after which a transaction is taken to end that no mark and no snapshot shows.
    public var changesPerUnseenTransaction = 10_000

    /// Target: bytes after which a transaction is taken to end that no mark and no snapshot shows.
    public var bytesPerUnseenTransaction = 8 << 20

    /// Ceiling: changes in a received batch.
    public var receivedChangesPerBatch = 1 << 16

    /// Ceiling: bytes of a batch before compression. A batch beyond ``bytesPerBatch`` holds a single change.
    ///
    /// SQLite holds rows of at most 1 000 000 000 bytes (https://sqlite.org/limits.html), and the journal's entry of a
    /// change is one. So the batch of any entry fits. All but the very largest can wait in the file for the end of their
    /// transaction.
    public var rawBatchBytes = 1_001_000_000

    /// Target: bytes of a batch or frame beyond which it waits until there is memory for it.
    public var largeFrameBytes = 8 << 20

    /// Ceiling: bytes of the frames beyond ``largeFrameBytes`` that a process receives at the same time, and sends
    /// at the same time; one frame may be larger. Memory is some times that.
    static let largeFrameBytesAtOnce = 256 << 20

    /// Ceiling: bytes of a raw batch that are not text or blob content. Decoding costs at most some tens of
    /// bytes of memory for each such byte, so this limit bounds the memory that a hostile batch can take.
    public var columnBytesPerBatch = 16 << 20

    /// Ceiling: values in a received batch.
    public var valuesPerBatch = 1 << 20

    /// Ceiling: distinct table shapes in a batch.
    public var shapesPerBatch = 4_096

    /// Ceiling: table shapes in one file, over its lifetime. Each migration of a table adds a shape, and each
    /// exchange reads all shapes.
    public var shapesPerFile = 16_384

    /// Ceiling: columns of one table shape: as many as the journal can hold. The file would refuse a wider
    /// shape at every attempt.
    public var columnsPerShape = JournalLimits.columnsPerTable

    /// Ceiling: UTF-8 bytes of the name of a table, a column or a cluster.
    public var nameBytes = 4_096

    /// Ceiling: entries of all causal contexts of a batch together, counted after expansion.
    public var knownEntriesPerBatch = 1 << 20

    /// Ceiling: the life of a key. A batch with a greater life is malformed.
    public var lives: Int64 = 1 << 40

    /// Ceiling: versions of one origin, far enough below `Int64.max` that sums cannot overflow.
    public var versions: Int64 = 1 << 60

    /// Ceiling: entries of a version vector.
    public var originsPerVector = 10_000

    /// Ceiling: bytes of memory, approximately, for parts of transactions whose ends have not arrived. Parts
    /// beyond it go to the file.
    public var pendingBytes = 48 << 20

    /// As ``pendingBytes``, for a program that makes one exchange: what it has received of a large
    /// transaction is in the file when it ends, however it ends, except for these last bytes.
    public static let pendingBytesOfOneExchange = 4 << 20

    /// How long the beginning of a transaction is kept without growing before it is dropped, in milliseconds.
    public var unfinishedMilliseconds: Int64 = 86_400_000

    // MARK: Frames and bodies

    /// Ceiling: bytes of a frame's header.
    public var frameHeaderBytes = 1 << 20

    /// Ceiling: bytes of a frame's payload as it travels, compressed or not.
    public var framePayloadBytes = 1_001_000_000

    /// Target: bytes of frames after which a sender ends one push and begins the next.
    public var bytesPerPush = 8 << 20

    /// Target: bytes of frames after which an endpoint ends the answer to one pull and says that it has more.
    public var bytesPerPull = 32 << 20

    /// Ceiling: bytes of the body of one push, and of the answer to one pull, without one large frame.
    public var streamBodyBytes = 128 << 20

    /// Ceiling: bytes of the body of one push, and of the answer to one pull.
    public var largestBodyBytes: Int { streamBodyBytes + framePayloadBytes }

    /// Ceiling: bytes of any other request or answer.
    public var messageBytes = 16 << 20

    /// Ceiling: bytes of an error body. A client ignores the message in a longer one.
    public var errorBodyBytes = 16 << 10

    /// Ceiling: bytes of the header lines of one HTTP answer.
    public var responseHeaderBytes = 64 << 10

    /// Ceiling: the window that a zstd frame may ask its decoder to keep in memory, in bytes as a power of
    /// two (23 is 8 MiB).
    public var zstdWindowLog: Int32 = 23

    /// Target: bytes of an answer that wait for their reader, after which a transfer is paused.
    public var queuedAnswerBytes = 256 << 10

    // MARK: Work

    /// Ceiling: threads of this process that wait for SQLite at the same time. Requests of peers beyond it
    /// wait for a thread. It is half of the threads that libdispatch starts, so the others stay for GRDB.
    public static let blockingThreads = 32

    /// Ceiling: changes of the index of concurrent changes that is kept for one sending origin between
    /// transactions. A larger index is built again for each run.
    public static let indexedChanges = 1_000_000

    /// Ceiling: rows whose claims of UNIQUE values are kept between transactions. Beyond it, all are dropped
    /// and read again from the journal.
    public static let followedRows = 100_000

    // MARK: Times

    /// The longest that a pull waits for news at the endpoint, in seconds.
    public var longPollSeconds = 25

    /// The longest time to connect, TLS included, in milliseconds.
    public var connectTimeoutMilliseconds = 10_000

    /// A transfer is aborted when it stays slower than ``lowSpeedBytesPerSecond`` for this many seconds. The
    /// wait of a long poll is added.
    public var lowSpeedSeconds = 30

    /// How long the answer to a push may stay silent while the push is applied, in milliseconds: far less than
    /// ``lowSpeedSeconds``, after which the caller gives up.
    public var silentAnswerMilliseconds: Int64 = 5_000

    /// See ``lowSpeedSeconds``.
    public var lowSpeedBytesPerSecond = 16

    /// The longest time of one request and its answer, in seconds. The wait of a long poll is added, and the time
    /// that the body takes at ``largeBodyBytesPerSecond``.
    public var requestSeconds = 600

    /// The slowest average rate at which a large body may travel, in bytes a second.
    public var largeBodyBytesPerSecond = 256 << 10

    /// The seconds without an answer for which a peer may apply a push of so many bytes. A large value is written
    /// several times, to a disk that may be slow.
    func secondsToApply(_ bytes: Int) -> Int { bytes >> 22 }

    /// The seconds that a body of so many bytes may take, on top of ``requestSeconds``.
    package func extraSeconds(ofBody bytes: Int) -> Int { bytes / max(largeBodyBytesPerSecond, 1) }

    /// The first delay after a failed exchange is drawn from 0 to this value, in milliseconds. The upper
    /// bound doubles with each failure.
    public var backoffBaseMilliseconds: Int64 = 250

    /// The longest delay after failed exchanges, in milliseconds.
    public var backoffCeilingMilliseconds: Int64 = 30_000

    /// The longest delay that a peer can ask for with `Retry-After`, in seconds.
    public var retryAfterSeconds: Int64 = 300

    /// How long the requests of a single exchange are repeated to a peer that answers with "too many
    /// requests", in milliseconds, each.
    public var patienceMilliseconds: Int64 = 300_000

    /// How long a single command repeats a request to an object store that fails, in milliseconds.
    public var storePatienceMilliseconds: Int64 = 30_000

    /// The shortest time between two notes of one peer's status beside the file, and between two writes of
    /// all of them along with changes, in milliseconds. A new kind of failure and a recovery are noted at
    /// once.
    public var peerRecordMilliseconds: Int64 = 5_000

    /// The shortest time between two writes of a peer's last contact to the file, in milliseconds, while
    /// contacts bring no other news.
    public var contactRecordMilliseconds: Int64 = 3_600_000

    /// The changes of this replica that a peer confirms before the confirmation is written to the file,
    /// although nothing else is.
    public var unrecordedChanges: Int64 = 16_384

    /// How far a stamp may lie ahead of the local clock, in milliseconds, before its origin is deferred.
    public var clockSkewMilliseconds: Int64 = 120_000

    /// The time without a change of the file after which a long write-ahead log is truncated, in
    /// milliseconds.
    public var quietMilliseconds: Int64 = 2_000

    // MARK: Snapshots

    /// The size of a snapshot's parts, in bytes.
    public var snapshotPartBytes = 1 << 20

    /// A snapshot that is older than this is made anew for the next receiver, in milliseconds, unless one is
    /// in use.
    public var snapshotAgeMilliseconds: Int64 = 600_000

    /// How long a snapshot counts as in use after a request, in milliseconds.
    public var snapshotUseMilliseconds: Int64 = 60_000

    /// How long a snapshot is kept after the last request, in milliseconds.
    public var snapshotIdleMilliseconds: Int64 = 600_000

    /// Parts of a snapshot that a receiver requests at the same time.
    public var snapshotPartsAtOnce = 4

    /// Bytes of these parts, which bound the number of large ones; one part at least.
    public var snapshotBytesAtOnce = 16 << 20

    /// Failures of one part in a row after which a clone ends.
    public var snapshotPartFailures = 6

    // MARK: Identity

    /// Ceiling: samples of the receiver's history in a hello.
    public var samplesPerHello = 64

    /// Ceiling: new identities that a replica takes within 24 hours without an operator.
    public var rekeysPerDay = 8

    // MARK: Compaction

    /// How long a replica that is not heard of holds compaction back, in milliseconds.
    public var leaseMilliseconds: Int64 = 30 * 86_400_000

    /// True when a replica that was away for longer than its lease comes back by itself; see decision 0042.
    public var returnsByItself = true

    /// How long after an attempt to come back that failed the next one is made, in milliseconds.
    public var returnRetryMilliseconds: Int64 = 600_000

    /// How long a replica leaves it to another one to come back, of two that have compacted what the other lacks, when
    /// that one asks for nothing, in milliseconds.
    public var returnTurnMilliseconds: Int64 = 600_000

    /// How much history compaction keeps at least, in milliseconds.
    public var historyMilliseconds: Int64 = 7 * 86_400_000

    /// The shortest time between two compactions by the replicator itself, in milliseconds; nil for none.
    public var compactionMilliseconds: Int64? = 900_000

    /// The longest time between two passes over the journal by the replicator itself, in milliseconds, although
    /// little has become stable since the first one.
    public var compactionPassMilliseconds: Int64 = 86_400_000

    /// Rows that compaction writes in one transaction.
    public var compactionRowsPerStep = 1_000

    /// The pause between two such transactions, in milliseconds.
    public var compactionPauseMilliseconds: Int64 = 10

    /// The shortest time between two hellos that tell a peer what this replica has merged since, in
    /// milliseconds.
    public var acknowledgementMilliseconds: Int64 = 60_000

    /// The longest time between two hellos to a peer, in milliseconds, which shows that this replica is alive.
    public var aliveMilliseconds: Int64 = 3_600_000

    /// Ceiling: acknowledgements in a hello.
    public var acknowledgementsPerHello = 256

    // MARK: Archives

    /// The times and sizes of replication through an archive.
    public var archive = ArchiveLimits()

    /// The times and sizes of a hub.
    package var hub = HubLimits()

    // MARK: Sweeps

    /// How long the conflict ledger keeps entries, and how many entries of one row.
    public var conflictRetention = ConflictRetention()

    /// The time between two sweeps, in milliseconds. A sweep drops old conflicts and beginnings of
    /// transactions that stopped growing.
    public var sweepMilliseconds: Int64 = 3_600_000

    // MARK: Verification

    /// The shortest time between two comparisons of the whole content with one peer, in milliseconds. A
    /// comparison needs equal vectors and walks through all tables on both sides.
    public var comparisonIntervalMilliseconds: Int64 = 3_600_000

    /// The shortest time between two attempts at such a comparison, in milliseconds. An attempt has no result
    /// if a replica is written to meanwhile.
    public var comparisonRetryMilliseconds: Int64 = 60_000

    /// True when rows that differ from the journal, as a comparison finds, become changes of this replica by
    /// themselves; see decision 0045.
    public var recapturesByItself = true

    /// Ceiling: ranges of differing rows that are listed for one table. Further ranges are only counted.
    public var listedMismatches = 20

    /// Ceiling: bytes of a peer's rows, approximately, that a comparison keeps for each table, so that a
    /// repair can take them.
    public var keptRowBytes = 16 << 20

    /// Target: rows that one digest covers.
    public var rowsPerDigest = 1_024

    /// Ceiling: digests, or rows, in one answer.
    public var digestsPerReply = 4_096

    /// Target: bytes of row content after which an answer with rows ends.
    public var rowBytesPerReply = 4 << 20

    /// Ceiling: differing rows that a verification lists for one table. Further rows are only counted.
    public var listedDifferences = 1_000

    /// Creates the standard limits, whose values can then be changed.
    public init() {}

    /// The limits that apply unless a caller passes others.
    public static let standard = Limits()
}
