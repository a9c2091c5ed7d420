import Testing

@testable import Journal

@Suite("When a commit is followed by a checkpoint")
struct CheckpointScheduleTests {
    /// Whether a checkpoint follows a commit that leaves the log like this.
    private func isDue(_ schedule: inout CheckpointSchedule, pages: Int, moved: Int = 0) -> Bool {
        schedule.isDue(log(pages: pages, moved: moved))
    }

    private func log(pages: Int, moved: Int = 0) -> LogPosition { .init(pages: pages, moved: moved, pageBytes: 4_096) }

    @Test("when 4 MiB are not moved, and again when a log that began anew has as many")
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

    @Test("what a reader keeps from being moved is not tried at each commit")
    func blocked() {
        var schedule = CheckpointSchedule()
        #expect(isDue(&schedule, pages: 1_100, moved: 10))
        schedule.checkpointed(log(pages: 1_100, moved: 10))
        #expect(!isDue(&schedule, pages: 1_101, moved: 10))
        #expect(!isDue(&schedule, pages: 2_123, moved: 10))
        #expect(isDue(&schedule, pages: 2_124, moved: 10))
    }

    @Test("what somebody else moved, or began anew, counts")
    func others() {
        var schedule = CheckpointSchedule()
        schedule.checkpointed(log(pages: 5_000))
        #expect(!isDue(&schedule, pages: 900))
        #expect(isDue(&schedule, pages: 1_924))
    }
}
