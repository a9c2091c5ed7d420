import Testing

@testable import Journal

@Suite("When a commit is followed by a checkpoint")
struct CheckpointScheduleTests {
    private func log(pages: Int, moved: Int = 0) -> LogPosition { .init(pages: pages, moved: moved, pageBytes: 4_096) }

    @Test("when 4 MiB are not moved, and again when a log that began anew has as many")
    func due() {
        var schedule = CheckpointSchedule()
        for _ in 0..<3 {
            #expect(!schedule.isDue(log(pages: 1_023)))
            #expect(schedule.isDue(log(pages: 1_024)))
            schedule.checkpointed(log(pages: 1_024, moved: 1_024))
        }
        #expect(!schedule.isDue(log(pages: 2_047, moved: 1_024)))
        #expect(schedule.isDue(log(pages: 2_048, moved: 1_024)))
    }

    @Test("what a reader keeps from being moved is not tried at each commit")
    func blocked() {
        var schedule = CheckpointSchedule()
        #expect(schedule.isDue(log(pages: 1_100, moved: 10)))
        schedule.checkpointed(log(pages: 1_100, moved: 10))
        #expect(!schedule.isDue(log(pages: 1_101, moved: 10)))
        #expect(!schedule.isDue(log(pages: 2_123, moved: 10)))
        #expect(schedule.isDue(log(pages: 2_124, moved: 10)))
    }

    @Test("what somebody else moved, or began anew, counts")
    func others() {
        var schedule = CheckpointSchedule()
        schedule.checkpointed(log(pages: 5_000))
        #expect(!schedule.isDue(log(pages: 900)))
        #expect(schedule.isDue(log(pages: 1_924)))
    }
}
