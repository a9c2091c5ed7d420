import Journal
import Sync

/// Every change that a machine sent to another, by (origin, version). One name may not stand for two contents
/// (P14), and the stamps of one origin rise with its versions (P10).
struct Publications {
    private struct Name: Hashable {
        let origin: OriginID
        let version: Int64
    }

    private struct Content: Equatable {
        let shape: TableShape
        let operation: Journal.Operation
        let life: Int64
        let stamp: Stamp
        let mask: ColumnMask
        let values: [Value]
        let isKeyChange: Bool
    }

    private var contents: [Name: Content] = [:]
    private var last: [OriginID: Int64] = [:]
    private(set) var redelivered = 0
    private(set) var relayed = 0
    /// The number of answers that announce more.
    private(set) var unfinished = 0
    let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// - Parameters:
    ///   - bytes: Whole frames.
    ///   - sender: The sender, by its present origin.
    /// - Returns: The batches in the frames.
    mutating func note(_ bytes: [UInt8], from sender: OriginID?) throws -> [ChangeBatch] {
        var batches: [ChangeBatch] = []
        var parser = FrameParser(limits: limits)
        parser.append(bytes)
        while let frame = try parser.next() {
            switch frame.body {
            case .batch: batches.append(try frame.batch(limits: limits))
            case .end(_, let more, _): if more { unfinished += 1 }
            case .open: continue
            }
        }
        for batch in batches { try note(batch, from: sender) }
        return batches
    }

    private mutating func note(_ batch: ChangeBatch, from sender: OriginID?) throws {
        var isNew = false
        for run in batch.runs {
            if run.origin != sender { relayed += 1 }
            for (offset, index) in run.changes.enumerated() {
                let change = batch.changes[index]
                let name = Name(origin: run.origin, version: run.firstVersion + Int64(offset))
                let content = Content(
                    shape: batch.shapes[change.shape], operation: change.operation, life: change.life,
                    stamp: change.stamp, mask: change.mask, values: Array(batch.values[change.values]),
                    isKeyChange: change.isKeyChange)
                if let known = contents[name] {
                    guard known == content else {
                        throw Violation(
                            "P14",
                            "version \(name.version) of \(name.origin.short) was sent with two contents: \(known) and \(content)"
                        )
                    }
                    continue
                }
                isNew = true
                contents[name] = content
                last[run.origin] = max(last[run.origin] ?? 0, name.version)
                try checkStamps(name, content)
            }
        }
        if !isNew { redelivered += 1 }
    }

    /// Removes changes of `origin` beyond a version that were sent and never arrived.
    mutating func forget(_ origin: OriginID, beyond version: Int64) {
        contents = contents.filter { $0.key.origin != origin || $0.key.version <= version }
        if let latest = last[origin] { last[origin] = min(latest, version) }
    }

    /// The highest version that was ever sent.
    func latest(of origin: OriginID) -> Int64 { last[origin] ?? 0 }

    private func checkStamps(_ name: Name, _ content: Content) throws {
        if let before = contents[Name(origin: name.origin, version: name.version - 1)], before.stamp >= content.stamp {
            throw Violation(
                "P10", "version \(name.version) of \(name.origin.short) has no later stamp than the version before it")
        }
        if let after = contents[Name(origin: name.origin, version: name.version + 1)], after.stamp <= content.stamp {
            throw Violation("P10", "version \(name.version) of \(name.origin.short) has no earlier stamp than the next")
        }
    }
}
