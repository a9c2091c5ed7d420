import Journal
import Testing

@testable import Simulator

/// Shows that the check of P13 can fail.
@Suite("The values that a register showed")
struct RegisterHistoryTests {
    private let stamps = [1: 10, 2: 30, 3: 20].mapValues { Stamp(rawValue: $0)...Stamp(rawValue: $0) }

    @Test("a later write may follow an earlier one, and a write may follow itself")
    func forward() {
        var history = RegisterHistory()
        for write in [1, 1, 3, 2] { history.note([0: write]) }
        #expect(history.steps.count == 2)
        #expect(history.stepBack(stamps) == nil)
    }

    @Test("an earlier write after a later one is a step back, of that register only")
    func back() {
        var history = RegisterHistory()
        history.note([0: 1, 1: 2])
        history.note([0: 1, 1: 3])
        #expect(history.stepBack(stamps) == .init(register: 1, before: 2, after: 3))
    }

    @Test("a value does not follow from those before the file was replaced, or from lost writes")
    func unrelated() {
        var history = RegisterHistory()
        history.note([0: 2])
        history.beginAnew()
        history.note([0: 3])
        history.note([0: 4])
        history.note([0: 1])
        #expect(history.stepBack(stamps) == nil)
    }
}
