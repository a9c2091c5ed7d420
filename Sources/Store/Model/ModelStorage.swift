import Observation
import Synchronization

/// The lock-backed storage of a live object.
///
/// The registrar for observers is created when the first property is read on any thread, because Observation
/// does not tell whether anyone tracks the read. An object that was only fetched has no registrar, and its
/// changes notify nobody.
public struct ModelStorage<Fields: ModelFields>: ~Copyable, Sendable {
    /// The database of the row.
    public let database: Database
    @usableFromInline let state: Mutex<ModelState<Fields>>
    /// An ``ObserverBox``, retained once; 0 while there is none.
    @usableFromInline let observers = Atomic<UInt>(0)

    /// Creates a storage with the values of one row and their source.
    @inlinable
    public init(_ fields: Fields, _ start: RegistrationContext) {
        database = start.database
        state = Mutex(
            ModelState(fields: fields, status: start.status, asOf: start.position, epoch: start.epoch))
    }

    /// Takes over the committed values of another storage, which were read at journal position `position`.
    /// Values that are older than the current ones are ignored.
    ///
    /// - Returns: True when the row exists afterwards, as seen by the calling thread.
    public borrowing func offer(_ other: borrowing ModelStorage, asOf position: Int64) -> Bool {
        let row = other.state.withLock { $0.fields }
        return state.withLock { state in
            state.offer(row, asOf: position)
            return state.visibleStatus == .present
        }
    }

    /// The key, in every state.
    @inlinable public borrowing func key() -> Fields.ID { state.withLock { $0.fields._key } }
    /// The status of the row as seen by the calling thread.
    @inlinable public borrowing func status() -> RowStatus { state.withLock { $0.visibleStatus } }

    deinit {
        if let box = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) { box.release() }
    }

    /// Reads one property of `object`, whose storage this is, as the calling thread sees it.
    @inlinable
    public borrowing func read<M: Model, Result: Sendable>(
        _ object: M, _ body: (Fields) -> Result
    ) -> Result where M.Fields == Fields {
        if SnapshotReads.exist, let seen = SnapshotReads.read(object, { fields, _ in body(fields) }) { return seen }
        return read(body)
    }

    /// Reads one property that never differs between the states of a row.
    @inlinable
    public borrowing func read<Result: Sendable>(_ body: (Fields) -> Result) -> Result {
        state.withLock { state in
            state.overlays.isEmpty ? body(state.fields) : body(state.visibleFields)
        }
    }

    /// Runs `body` with the object's state, under the object's lock: it must neither block nor take another
    /// lock. Changes that it made before it throws remain.
    @inlinable
    public borrowing func withState<Result: Sendable>(
        _ body: (inout ModelState<Fields>) throws -> Result
    ) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }

    // MARK: - Observers

    /// True when a property was read, so that an observer may exist.
    public var isObserved: Bool { observers.load(ordering: .acquiring) != 0 }

    /// Records a read of a property for observers, and for a computation that runs on this thread.
    public borrowing func observe<M: Model, Value>(_ object: M, _ path: KeyPath<M, Value>) {
        if RegionTracker.exist { ThreadContext.access(to: database)?.tracker?.note(table: M.schema.table) }
        observerBox()._withUnsafeGuaranteedRef { $0.registrar.access(object, keyPath: path) }
    }

    /// Notifies observers of a change of a property.
    public borrowing func announce<M: Observable, Value>(_ object: M, _ path: KeyPath<M, Value>) {
        guard let box = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) else { return }
        box._withUnsafeGuaranteedRef {
            $0.registrar.willSet(object, keyPath: path)
            $0.registrar.didSet(object, keyPath: path)
        }
    }

    /// Notifies observers of a change of those properties whose columns are in `changes`. `positions` are those of the
    /// columns, in the order of `path`.
    public borrowing func announceSome<M: Observable, each Value>(
        _ object: M, _ changes: ColumnSet, _ positions: [Int], _ path: repeat KeyPath<M, each Value>
    ) {
        if observers.load(ordering: .relaxed) == 0 { return }
        var rest = positions[...]
        for path in repeat each path {
            if let position = rest.popFirst(), changes.contains(position) { announce(object, path) }
        }
    }

    private borrowing func observerBox() -> Unmanaged<ObserverBox> {
        if let known = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) { return known }
        let made = Unmanaged.passRetained(ObserverBox())
        let (isMine, original) = observers.compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        if isMine { return made }
        // Another thread has stored its box first.
        made.release()
        return ObserverBox.pointed(by: original) ?? made
    }
}

/// The registrar of one object's observers.
private final class ObserverBox: Sendable {
    let registrar = ObservationRegistrar()

    static func pointed(by address: UInt) -> Unmanaged<ObserverBox>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged<ObserverBox>.fromOpaque($0) }
    }
}
