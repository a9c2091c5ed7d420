import Journal

/// Every size, count and time that replication keeps to, in one place.
///
/// Two kinds: targets, at which a sender closes what it is making, and ceilings, beyond which a receiver refuses what a
/// peer made. Each ceiling leaves room for the largest thing that a sender within its targets can produce. A simulation
/// may shrink all of them.
public struct Limits: Sendable, Hashable {
    // MARK: Batches

    /// Target: changes after which a sender closes a batch.
    public var changesPerBatch = 8_192

    /// Target: summed ``Value/weight`` in bytes, with 24 for each entry of a run's known vector, after which a sender
    /// closes a batch. A single heavier change travels in a batch of its own.
    public var bytesPerBatch = 1 << 20

    /// Ceiling: changes in a received batch.
    public var receivedChangesPerBatch = 1 << 16

    /// Ceiling: bytes of a batch before compression.
    public var rawBatchBytes = 64 << 20

    /// Ceiling: bytes of a raw batch that are not text or blob content. Decoding costs at most some tens of bytes of
    /// memory for each, so this is what bounds the memory of a hostile batch.
    public var columnBytesPerBatch = 16 << 20

    /// Ceiling: values in a received batch.
    public var valuesPerBatch = 1 << 20

    /// Ceiling: distinct table shapes in a batch.
    public var shapesPerBatch = 4_096

    /// Ceiling: table shapes that a file gets to know, over all time: each migration of a table is one. All of them are read at
    /// each exchange.
    public var shapesPerFile = 16_384

    /// Ceiling: columns of one table shape. More of them than the journal can hold would fail in the file, again and again.
    public var columnsPerShape = JournalLimits.columnsPerTable

    /// Ceiling: UTF-8 bytes of the name of a table, a column or a cluster.
    public var nameBytes = 4_096

    /// Ceiling: entries of all known vectors of a batch together, written out.
    public var knownEntriesPerBatch = 1 << 20

    /// Ceiling: the life count of a key. A key that was deleted and inserted again this often is not believed.
    public var lives: Int64 = 1 << 40

    /// Ceiling: versions of one origin, far enough from `Int64.max` that sums cannot overflow.
    public var versions: Int64 = 1 << 60

    /// Ceiling: entries of a version vector.
    public var originsPerVector = 10_000

    /// Ceiling: about how many bytes of memory for the parts of transactions whose ends have not come; beyond it they go to the file.
    public var pendingBytes = 48 << 20

    /// How long the beginning of a transaction waits for more of it, in milliseconds, before it is dropped.
    public var unfinishedMilliseconds: Int64 = 86_400_000

    // MARK: Frames and bodies

    /// Ceiling: bytes of a frame's header.
    public var frameHeaderBytes = 1 << 20

    /// Ceiling: bytes of a frame's payload as it travels, compressed or not.
    public var framePayloadBytes = 64 << 20

    /// Target: bytes of frames after which a sender ends one push and begins the next.
    public var bytesPerPush = 8 << 20

    /// Target: bytes of frames after which an endpoint ends the answer to one pull and says that there is more.
    public var bytesPerPull = 32 << 20

    /// Ceiling: bytes of the body of one push, and of the answer to one pull.
    public var streamBodyBytes = 128 << 20

    /// Ceiling: bytes of any other request or answer.
    public var messageBytes = 16 << 20

    /// Ceiling: bytes of an error body of which a client reads the message.
    public var errorBodyBytes = 16 << 10

    /// Ceiling: bytes of the header lines of one HTTP answer.
    public var responseHeaderBytes = 64 << 10

    /// Ceiling: memory in bytes that a zstd frame may ask its decoder to keep, as a power of two (8 MiB).
    public var zstdWindowLog: Int32 = 23

    // MARK: Times

    /// The longest that a pull waits for news at the endpoint, in seconds.
    public var longPollSeconds = 25

    /// The longest time to connect, TLS included, in milliseconds.
    public var connectTimeoutMilliseconds = 10_000

    /// A transfer below ``lowSpeedBytesPerSecond`` for this many seconds is given up; a long poll's wait comes on top.
    public var lowSpeedSeconds = 30

    /// See ``lowSpeedSeconds``.
    public var lowSpeedBytesPerSecond = 16

    /// The longest time of one request and its answer, in seconds; a long poll's wait comes on top.
    public var requestSeconds = 600

    /// The first delay after a failed exchange is drawn from 0 to this, in milliseconds, and doubles with each failure.
    public var backoffBaseMilliseconds: Int64 = 250

    /// The longest delay after failed exchanges, in milliseconds.
    public var backoffCeilingMilliseconds: Int64 = 30_000

    /// The longest delay that a peer can ask for with `Retry-After`, in seconds.
    public var retryAfterSeconds: Int64 = 300

    /// The least time between two notes on one peer in the file, in milliseconds, unless it failed or recovered.
    public var peerRecordMilliseconds: Int64 = 5_000

    /// How far a stamp may lie ahead of the local clock, in milliseconds, before its change is held back.
    public var clockSkewMilliseconds: Int64 = 120_000

    // MARK: Identity

    /// Ceiling: versions that a hello tells of its receiver's history.
    public var samplesPerHello = 64

    /// Ceiling: new names that a replica takes within a day without an operator.
    public var rekeysPerDay = 8

    // MARK: Sweeps

    /// How long the ledger keeps conflicts, and how many of one row.
    public var conflictRetention = ConflictRetention()

    /// The time between two looks for conflicts that are too old, and for transactions that nobody finishes, in milliseconds.
    public var sweepMilliseconds: Int64 = 3_600_000

    // MARK: Verification

    /// The least time between two comparisons of the whole content with a peer that knows the same, in milliseconds. Each walks
    /// through all tables on both sides.
    public var comparisonIntervalMilliseconds: Int64 = 3_600_000

    /// The least time between two attempts at such a comparison, in milliseconds: it comes to nothing while somebody writes.
    public var comparisonRetryMilliseconds: Int64 = 60_000

    /// Ceiling: ranges of differing rows of a table that are told; the others are counted.
    public var listedMismatches = 20

    /// Ceiling: bytes of a peer's rows that a comparison keeps, so that a repair can take them.
    public var keptRowBytes = 16 << 20

    /// Target: rows that one digest covers.
    public var rowsPerDigest = 1_024

    /// Ceiling: digests, or rows, in one answer.
    public var digestsPerReply = 4_096

    /// Target: bytes of row content after which an answer with rows is ended.
    public var rowBytesPerReply = 4 << 20

    /// Ceiling: differing keys that a verification lists; it counts the others.
    public var listedDifferences = 1_000

    /// The standard values, to change some of them.
    public init() {}

    /// What all replicas keep to unless they are told otherwise.
    public static let standard = Limits()
}
