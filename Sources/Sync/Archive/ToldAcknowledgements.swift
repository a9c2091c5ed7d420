import Journal

/// What replicas have told an archive of what they and others have merged, as far as it was read.
struct ToldAcknowledgements: Sendable {
    /// By the replica that told it.
    private(set) var told: [OriginID: ArchivedAcknowledgement] = [:]
    private var isRead = false
    /// The tags of the objects that were read, by their keys.
    private var tags: [String: String] = [:]

    /// Reads what is new.
    ///
    /// - Parameter wall: The time of this machine, in milliseconds since 1970.
    /// - Throws: ``SyncError`` of the store.
    mutating func read(_ store: any ObjectStore, wall: Int64) async throws {
        for object in try await store.listAll(ArchiveKeys.acknowledgements) where tags[object.key] != object.tag {
            guard let bytes = try await store.get(object.key),
                var stored: ArchivedAcknowledgement = try? ArchiveJSON.decode(bytes, "An acknowledgement")
            else { continue }
            // A clock that was ahead must not keep a replica alive that does not come any more.
            let latest = min(object.milliseconds, wall)
            if stored.own.milliseconds > wall { stored.own.milliseconds = latest }
            stored.heard = stored.heard?.map { heard in
                var heard = heard
                if heard.milliseconds > wall { heard.milliseconds = latest }
                return heard
            }
            tags[object.key] = object.tag
            told[stored.own.origin.origin] = stored
        }
        isRead = true
    }

    /// The newest acknowledgement of each replica, those of the replicas that were met last first.
    var newest: [Acknowledgement] { ToldAcknowledgements.newest(all) }

    /// All of them, in one order in all processes.
    private var all: [Acknowledgement] { told.sorted { $0.key < $1.key }.flatMap(\.value.all) }

    /// The newest of each replica; of those with one time, the first one.
    static func newest(_ acknowledgements: [Acknowledgement]) -> [Acknowledgement] {
        Dictionary(
            acknowledgements.map { ($0.origin, $0) }, uniquingKeysWith: { $0.milliseconds < $1.milliseconds ? $1 : $0 }
        ).values.sorted { ($0.milliseconds, $0.origin) > ($1.milliseconds, $1.origin) }
    }

    /// What a replica has to tell of others: what it has heard of those that tell the archive nothing, and nobody else
    /// tells. Others hear so of replicas that reach the archive by another one only.
    ///
    /// - Parameters:
    ///   - acknowledgements: What the replica has heard.
    ///   - teller: The replica.
    ///   - interval: How often a replica says that it is alive, in milliseconds.
    /// - Returns: Nothing before the first reading.
    func unheard(_ acknowledgements: [Acknowledgement], by teller: OriginID, every interval: Int64) -> [Acknowledgement]
    {
        func isRecent(_ milliseconds: Int64?, within time: Int64, before new: Acknowledgement) -> Bool {
            milliseconds.map { $0.addingSaturating(time) > new.milliseconds } ?? false
        }
        let silent = acknowledgements.filter {
            !isRecent(told[$0.origin]?.own.milliseconds, within: 2 * interval, before: $0)
        }
        guard isRead, !silent.isEmpty else { return [] }
        let others = Dictionary(grouping: told.filter { $0.key != teller }.values.flatMap(\.all), by: \.origin)
        return silent.filter { new in
            !(others[new.origin] ?? []).contains {
                $0.vector.covers(new.vector) && isRecent($0.milliseconds, within: interval, before: new)
            }
        }
    }
}

extension ArchivedAcknowledgement {
    /// What a replica tells by its hello.
    ///
    /// - Parameters:
    ///   - archive: The archive's own name.
    ///   - told: What the archive was told before.
    ///   - interval: As for ``ToldAcknowledgements/unheard(_:by:every:)``.
    /// - Returns: nil for a hello that acknowledges nothing.
    init?(of hello: Hello, _ archive: OriginID, _ told: ToldAcknowledgements, every interval: Int64) {
        guard let own = hello.acknowledgements.first(where: { $0.origin == hello.origin }) else { return nil }
        let others = hello.acknowledgements.filter {
            $0.origin != hello.origin && $0.origin != archive && !hello.finished.contains($0.origin)
        }
        self.init(
            own, refused: RefusedChanges(hello), heard: told.unheard(others, by: hello.origin, every: interval))
    }

    /// That of the replica, and those that it has heard.
    var all: [Acknowledgement] { [acknowledgement] + (heard ?? []).map(\.acknowledgement) }
}
