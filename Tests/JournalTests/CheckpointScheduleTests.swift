import Testing

@testable import Journal

@Suite("Checkpoints after commits")
struct CheckpointScheduleTests {
    /// True when a checkpoint follows a commit that leaves the log in this state.
    private func isDue(_ schedule: inout CheckpointSchedule, pages: Int, moved: Int = 0) -> Bool {
        schedule.isDue(log(pages: pages, moved: moved))
    }

    private func log(pages: Int, moved: Int = 0) -> LogPosition { .init(pages: pages, moved: moved, pageBytes: 4_096) }

    @Test("one is due when 4 MiB are not checkpointed, and again when a restarted log has as many")
    func due() {
        var schedule = CheckpointSchedule()
        for _ in 0..<3 {
            #expect(!isDue(&schedule, pages: 1_023))
            #expect(isDue(&schedule, pages: 1_024))
            schedule.checkpointed(log(pages: 1_024, moved: 1_024))
        }
        #expect(!isDue(&schedule, pages: 2_047, moved: 1_024))
        #expect(isDue(&schedule, pages: 2_048, moved: 1_024))
    }

    @Test("pages that a reader keeps from being checkpointed are not tried at each commit")
    func blocked() {
        var schedule = CheckpointSchedule()
        #expect(isDue(&schedule, pages: 1_100, moved: 10))
        schedule.checkpointed(log(pages: 1_100, moved: 10))
        #expect(!isDue(&schedule, pages: 1_101, moved: 10))
        #expect(!isDue(&schedule, pages: 2_123, moved: 10))
        #expect(isDue(&schedule, pages: 2_124, moved: 10))
    }

    @Test("a reader that has been there for long is not waited for")
    func held() {
        #expect(!CheckpointSchedule.isHeld(log(pages: 100_000, moved: 98_000)))
        #expect(CheckpointSchedule.isHeld(log(pages: 100_000, moved: 97_952)))
    }

    @Test("a checkpoint or restart by another connection counts")
    func others() {
        var schedule = CheckpointSchedule()
        schedule.checkpointed(log(pages: 5_000))
        #expect(!isDue(&schedule, pages: 900))
        #expect(isDue(&schedule, pages: 1_924))
    }
}
