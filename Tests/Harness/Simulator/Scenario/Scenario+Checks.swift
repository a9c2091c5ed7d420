import Journal
import MergeModel
import Sync

/// The properties that hold at every moment.
extension Scenario {
    func watch(_ exchange: Exchange, isAnswer: Bool, _ bytes: [UInt8]) throws {
        note("\(isAnswer ? exchange.to : exchange.from) sends \(bytes.count) B of #\(exchange.number)")
        // SQLite leaves what its memory held in the unused bytes of pages, so the parts of a snapshot and their digests
        // are not the same in two processes.
        if ![WireHTTP.snapshotPath, WireHTTP.snapshotPartPath].contains(exchange.path) { trace.append(bytes) }
        switch (exchange.path, isAnswer) {
        case (WireHTTP.pushPath, false), (WireHTTP.pullPath, true):
            let (sender, receiver) = isAnswer ? (exchange.to, exchange.from) : (exchange.from, exchange.to)
            let batches = try publications.note(bytes, from: origin(at: sender))
            if machine(at: receiver) != nil { arrivals[receiver] = (arrivals[receiver] + batches).suffix(8) }
            if isAnswer {
                exchange.pieces += 1
                if exchange.pieces == 3 { counts.note(.manyFrames) }
            }
        case (WireHTTP.digestPath, true): counts.note(.compared)
        case (WireHTTP.pushPath, true): try checkAcknowledgement(exchange, bytes)
        default: break
        }
    }

    /// The present origin of the machine at an address; nil for a hub.
    func origin(at address: Int) -> OriginID? { machine(at: address).flatMap { watches[$0.index].origin } }

    /// Checks that a file has what the answer to a push says, also after a crash (P4).
    func checkAcknowledgement(_ exchange: Exchange, _ bytes: [UInt8]) throws {
        guard let machine = machine(at: exchange.to),
            let reply = try? PushReply(decoding: bytes, limits: plan.limits)
        else { return }
        let view = FileView(machine: machine)
        let whole = try view.vector()
        let durable = try whole.merged(with: view.staged())
        guard durable.covers(reply.vector) else {
            throw Violation(
                "P4", "machine \(exchange.to) says that it has \(reply.vector), and its file holds \(durable)")
        }
        // Beginnings of transactions may be dropped later.
        let promised = reply.vector.entries.map {
            VersionVector.Entry(origin: $0.origin, version: min($0.version, whole[$0.origin]))
        }
        watches[exchange.to].promise(VersionVector(promised.filter { $0.version > 0 }))
    }

    /// Checks each file that changed, after every event.
    func checkQuiet() throws {
        if let violation { throw violation }
        for machine in machines where checked[machine.index] != machine.commits {
            checked[machine.index] = machine.commits
            try check(machine)
        }
    }

    func check(_ machine: SimulatedMachine) throws {
        counts.checks += 1
        let view = FileView(machine: machine)
        guard machine.logBytes < 16 << 20 else {
            throw Violation("P23", "the log of machine \(machine.index) has grown to \(machine.logBytes) bytes")
        }
        // A contact with a peer may have given the file a new identity.
        if let outcome = machine.daemon?.replicator.inbox.lastRekey, outcome != rekeys[machine.index] {
            rekeyed(machine, outcome)
        }
        let known = try watches[machine.index].check(
            view, written: written, mayReturn: plan.kinds.contains(.compaction), isCopied: archive.isCopied, &counts)
        try checkBookkeeping(machine, known)
        try collect(machine)
        try redeliver(to: machine, known)
        // A local write can free values for held rows, and a migration backfills columns, both a little
        // later.
        guard try !mayBeUnsettled(view) else { return }
        try compare(view, known)
    }

    /// True when the daemon may still have to show held rows or to backfill columns.
    private func mayBeUnsettled(_ view: FileView) throws -> Bool {
        // This holds without constraints, too: a local write can complete a row that waits for its insert.
        try plan.hasConstraints || !plan.schema.additions.isEmpty
            || view.number("SELECT count(*) FROM _journal_held") > 0 || isMigrating(view)
    }

    /// True when a migration has ended that the daemon has not looked at, or rows show what a second run has made of
    /// them.
    private func isMigrating(_ view: FileView) throws -> Bool {
        guard plan.kinds.contains(.markedMigration) else { return false }
        return try view.number("SELECT count(*) FROM _journal_marks") > 0
            || view.number(#"SELECT count(*) FROM _journal_tables WHERE instr(joined, '\u0000')"#) > 0
    }

    func compare(_ view: FileView, _ known: VersionVector) throws {
        // Its next changes get a new origin, and no replica has them under the old one.
        guard !unsettled.contains(view.machine.index), decayed?.machine !== view.machine else { return }
        if let name = unproven[view.machine.index] {
            guard try view.origin != name else { return }
            unproven[view.machine.index] = nil
        }
        let digest = try view.digest()
        trace.append([UInt8(truncatingIfNeeded: digest), UInt8(truncatingIfNeeded: digest >> 8)])
        if let other = knowledge.note(known, schema: view.machine.schemaName, digest, machine: view.machine.index) {
            let theirs = machines[other]
            let detail = try theirs.isUp ? Scenario.difference(theirs, view.machine) : ""
            throw Violation(
                "P1",
                "machine \(view.machine.index) knows \(known), as machine \(other) did, and holds something else\n\(detail)"
            )
        }
    }

    static func difference(_ a: SimulatedMachine, _ b: SimulatedMachine) throws -> String {
        func content(_ machine: SimulatedMachine) throws -> HistoryContent {
            try HistoryContent(schema: machine.schema, rows: machine.rows) {
                try machine.daemon?.replica.read { try ConflictEntry.all($0) } ?? []
            }
        }
        return HistoryContent.difference(try content(a), try content(b)).joined(separator: "\n")
    }

    func checkDeeply(_ machine: SimulatedMachine) throws {
        guard let daemon = machine.daemon, machine.fuse == nil, machine.refusal == nil, locks[machine.index] == nil
        else { return }
        try collect(machine)
        let settles = try mayBeUnsettled(FileView(machine: machine))
        let outcome = try ModelCheck(machine: machine, daemon: daemon, archive: archive).run(settles: settles)
        counts.modelChecks += 1
        counts.changesChecked += outcome.changes
        if outcome.migrated > 0 { counts.note(FaultKind.markedMigration) }
        for conflict in outcome.conflicts {
            switch conflict.kind {
            case "update/update": counts.note(.conflictUpdate)
            case "update/delete": counts.note(.conflictDelete)
            case "insert/insert": counts.note(.conflictInsert)
            default: counts.note(.conflictKeyChange)
            }
        }
        try compare(FileView(machine: machine), FileView(machine: machine).vector())
    }
}
