import Observation
import Synchronization

/// The lock-backed storage of a live object.
///
/// A registrar for observers is made when the first property is read, by whomever: Observation does not tell whether anyone
/// tracks. An object that is only fetched has none, and what changes in it is told to nobody.
public struct ModelStorage<Fields: ModelFields>: ~Copyable, Sendable {
    /// The database that the row is in.
    public let database: Database
    @usableFromInline let state: Mutex<ModelState<Fields>>
    /// An ``ObserverBox``, retained once; 0 while there is none.
    @usableFromInline let observers = Atomic<UInt>(0)

    /// A storage with the values of one row, and where they come from.
    @inlinable
    public init(_ fields: Fields, _ start: RegistrationContext) {
        database = start.database
        state = Mutex(
            ModelState(fields: fields, status: start.status, asOf: start.position, epoch: start.epoch))
    }

    /// Takes the committed values of another storage, read at journal position `position`; older ones than the present
    /// are ignored.
    ///
    /// - Returns: True when the row is there afterwards, as far as the calling thread can see.
    @inlinable
    public borrowing func offer(_ other: borrowing ModelStorage, asOf position: Int64) -> Bool {
        let row = other.state.withLock { $0.fields }
        return state.withLock { state in
            state.offer(row, asOf: position)
            return state.visibleStatus == .present
        }
    }

    /// The key, of whatever state.
    @inlinable public borrowing func key() -> Fields.ID { state.withLock { $0.fields._key } }
    /// Where the row stands, as far as the calling thread can see.
    @inlinable public borrowing func status() -> RowStatus { state.withLock { $0.visibleStatus } }

    deinit {
        if let box = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) { box.release() }
    }

    /// Reads one property.
    @inlinable
    public borrowing func read<Result: Sendable>(_ body: (Fields) -> Result) -> Result {
        state.withLock { state in
            state.overlays.isEmpty ? body(state.fields) : body(state.visibleFields)
        }
    }

    /// Runs `body` under the object's lock, with what it holds: it must neither block nor ask for another lock. What it
    /// has changed when it throws stays changed.
    @inlinable
    public borrowing func withState<Result: Sendable>(
        _ body: (inout ModelState<Fields>) throws -> Result
    ) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }

    // MARK: - Observers

    /// True when a property was read, so that someone may observe it.
    public var isObserved: Bool { observers.load(ordering: .acquiring) != 0 }

    /// Notes that a property is read.
    public borrowing func observe<M: Observable, Value>(_ object: M, _ path: KeyPath<M, Value>) {
        observerBox()._withUnsafeGuaranteedRef { $0.registrar.access(object, keyPath: path) }
    }

    /// Tells observers that a property has changed.
    public borrowing func announce<M: Observable, Value>(_ object: M, _ path: KeyPath<M, Value>) {
        guard let box = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) else { return }
        box._withUnsafeGuaranteedRef {
            $0.registrar.willSet(object, keyPath: path)
            $0.registrar.didSet(object, keyPath: path)
        }
    }

    private borrowing func observerBox() -> Unmanaged<ObserverBox> {
        if let known = ObserverBox.pointed(by: observers.load(ordering: .acquiring)) { return known }
        let made = Unmanaged.passRetained(ObserverBox())
        let (isMine, original) = observers.compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        if isMine { return made }
        // Another thread was faster.
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
