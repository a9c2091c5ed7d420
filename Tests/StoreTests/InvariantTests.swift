import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Shows that the checks of debug builds can fail: each finds a state that is broken by hand, and names the
/// invariant.
@Suite("Invariants of Store")
struct InvariantTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("a transaction with a broken state is detected, by the number of the invariant")
    func transaction() throws {
        let person = try test.person("Bob")
        try db.write { context in
            let clock = db.pipeline.clock
            let overlay = Overlay(
                owner: context.owner, epoch: context.epoch, fields: person.values, status: .present)
            func mark(undo: Int) -> WriteContext.Savepoint {
                WriteContext.Savepoint(follower: context.follower.mark, position: 0, undo: undo, hooks: 0)
            }
            #expect(context.invariantViolation() == nil)

            clock.writer.store(0, ordering: .sequentiallyConsistent)
            let number = context.epoch
            #expect(
                context.invariantViolation()
                    == "2: write \(number) runs, and the clock has writer 0 of \(number) writes")
            clock.writer.store(context.epoch, ordering: .sequentiallyConsistent)

            let position = context.position
            context.position = -1
            #expect(context.invariantViolation() == "3: 0 unconfirmed entries after -1")
            context.position = position

            context.undo.append(OverlayRestoring(object: person, previous: overlay))
            #expect(context.invariantViolation() == "4: the first undo step of an object restores an overlay")
            #expect(context.invariantViolation(checkingUndo: false) == nil)
            context.undo = []

            context.lazySavepoints = [nil, mark(undo: 0)]
            #expect(context.invariantViolation() == "5: a lazy savepoint has begun before one that encloses it")
            context.lazySavepoints = [mark(undo: 0), nil]
            #expect(context.invariantViolation() == "6: 1 of 0 savepoints are lazy ones")
            context.savepointDepth = 1
            #expect(context.invariantViolation() == nil)
            context.lazySavepoints = [mark(undo: 5), nil]
            #expect(context.invariantViolation()?.hasPrefix("7: ") == true)
            (context.lazySavepoints, context.savepointDepth) = ([], 0)
            #expect(context.invariantViolation() == nil)
        }
    }

    @Test("a transaction belongs to the thread that runs it")
    func thread() throws {
        try db.write { context in
            let found = Mutex<String?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                found.withLock { $0 = context.invariantViolation() }
                isDone.signal()
            }
            isDone.wait()
            #expect(found.withLock { $0 } == "1: another thread uses the transaction")
            #expect(context.invariantViolation() == nil)
        }
    }

    @Test("a transaction that has ended holds nothing")
    func end() throws {
        let person = try test.person("Bob")
        let ended = try db.write { context in
            try person.save { $0.age = 7 }
            return context
        }
        #expect(ended.isFinished)
        #expect(ended.invariantViolation() == nil)
        ended.undo.append(OverlayRemoval(object: person))
        #expect(ended.invariantViolation() == "12: 1 undo steps are left at the end")
        ended.undo = []
        db.pipeline.clock.writer.store(ended.epoch, ordering: .sequentiallyConsistent)
        #expect(ended.invariantViolation() == "12: write \(ended.epoch) is over, and the clock says that it runs")
        db.pipeline.clock.endWrite(ended.epoch)
    }

    @Test("the state of an object with an impossible combination is detected")
    func object() {
        typealias State = ModelState<Person.Fields>
        func violation(_ breaking: (inout State) -> Void) -> String? {
            var state = State(fields: Person.Fields(), status: .present, asOf: 3, epoch: 2)
            #expect(state.invariantViolation() == nil)
            breaking(&state)
            return state.invariantViolation()
        }
        func overlay(_ epoch: Int, _ status: RowStatus, isSaved: Bool = false) -> Overlay<Person.Fields> {
            Overlay(owner: .current, epoch: epoch, fields: Person.Fields(), status: status, isSaved: isSaved)
        }
        #expect(violation { $0.asOf = -1 } == "1: a row that is present has position -1")
        #expect(violation { $0.status = .unknown } == "1: a row that is unknown has position 3")
        #expect(violation { $0.overlays = [overlay(2, .present), overlay(3, .present)] } == "2: there are 2 overlays")
        #expect(violation { $0.overlays = [overlay(2, .present)] } == nil)
        #expect(
            violation { $0.overlays = [overlay(1, .present)] } == "2: the overlay of write 1 is on an object of write 2"
        )
        #expect(violation { $0.overlays = [overlay(2, .unknown)] } == "2: an overlay is unknown")
        #expect(
            violation { $0.overlays = [overlay(2, .new, isSaved: true)] } == "2: the overlay of a new object is saved")
        #expect(violation { $0.unsaved = [Person.Fields()] } == nil)
        #expect(
            violation { $0.unsaved = [Person.Fields(), Person.Fields()] } == "3: there are 2 unsaved values")
        #expect(
            violation {
                $0.unsaved = [Person.Fields()]
                $0.status = .new
            } == "3: a row that is new has unsaved values beside it")
    }

    @Test("contradicting positions and counters are detected")
    func clock() {
        let clock = LiveClock()
        #expect(clock.invariantViolation() == nil)
        clock.writer.store(1, ordering: .sequentiallyConsistent)
        #expect(clock.invariantViolation() == "3: write 1 runs, and 0 have begun")
        clock.applyNotices(4)
        #expect(clock.invariantViolation() == "2: notice 4 is applied, and 0 is announced")
        clock.apply(2)
        #expect(clock.invariantViolation() == "1: position 2 is applied, and 0 is announced")
        clock.announce(2)
        clock.announceNotices(4)
        #expect(clock.beginWrite() == 1)
        #expect(clock.invariantViolation() == nil)
    }

    @Test("registered objects are checked, with the writes that have begun")
    func registered() throws {
        let person = try test.person("Bob")
        let instances = db.instances(of: Person.self)
        #expect(instances.invariantViolation() == nil)
        let epoch = person._withState { $0.epoch }
        person._withState { $0.epoch = epoch + 9 }
        #expect(instances.invariantViolation() == "3: an object is of write \(epoch + 9), and \(epoch) have begun")
        person._withState { $0.asOf = -1 }
        #expect(instances.invariantViolation() == "3: 1: a row that is present has position -1")
        person._withState { state in
            state.epoch = epoch
            state.asOf = 0
        }
    }
}
