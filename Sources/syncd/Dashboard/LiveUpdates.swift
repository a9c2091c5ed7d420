import Journal
import ServiceLifecycle
import Sync

/// Makes the live parts of the pages while somebody looks at them, and samples the figures of the charts all
/// the time.
struct LiveUpdates: Service {
    /// The least time from one look at the file to the next. A look that takes long is followed by a pause of
    /// ten times as long.
    static let pause: Duration = .milliseconds(200)
    /// What is known of the peers changes without a write to the file, so it is looked at so often.
    static let tick: Duration = .seconds(1)
    /// Ticks from one sign of life to the next.
    static let ticksPerBeat = 15

    private let feed: LiveFeed
    private let reports: ReportSource
    private let clock = ContinuousClock()

    /// - Parameters:
    ///   - feed: Gets the parts and the charts. It ends with the service.
    ///   - reports: Says what the daemon knows.
    init(feed: LiveFeed, reports: ReportSource) {
        self.feed = feed
        self.reports = reports
    }

    func run() async throws {
        let (looks, wanted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.sample() }
                group.addTask { await self.follow(wanted) }
                for await _ in looks { await self.look() }
                group.cancelAll()
            }
        }
        feed.end()
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }

    /// Asks for a look after each change and at each tick while somebody watches. A watch of the file costs the
    /// programs that write it, so there is none otherwise.
    private func follow(_ wanted: AsyncStream<Void>.Continuation) async {
        for await _ in feed.arrivals where feed.isWatched {
            // Without a watch, when the system's limit is reached, the ticks are left.
            let watch = try? FileWatch(path: reports.replica.path)
            await withDiscardingTaskGroup { group in
                if let watch { group.addTask { for await _ in watch.changes { wanted.yield() } } }
                var ticks = 0
                while feed.isWatched {
                    wanted.yield()
                    // Cancelled: the stream of arrivals has ended, too.
                    guard (try? await Task.sleep(for: LiveUpdates.tick)) != nil else { break }
                    ticks += 1
                    if ticks.isMultiple(of: LiveUpdates.ticksPerBeat) { feed.beat() }
                }
                group.cancelAll()
            }
            watch?.stop()
        }
    }

    private func look() async {
        let start = clock.now
        // A file that cannot be read now is looked at again at the next tick. The log says so.
        if let report = try? await reports.report(countingRows: false) {
            feed.publish(OverviewPage(report, charts: feed.charts).live)
        }
        try? await Task.sleep(for: max(LiveUpdates.pause, (clock.now - start) * 10))
    }

    private func sample() async {
        let start = clock.now
        var trends = Trends()
        var before = ExchangeMeter.Reading()
        while !Task.isCancelled {
            let reading = reports.replicator.endpoint.meter.read()
            let second = (clock.now - start).components.seconds
            if let report = try? await reports.report(countingRows: false, isSample: true) {
                trends.add(Trends.sample(report, reading, since: before), at: second)
                before = reading
                feed.charts = trends.html(at: second)
            }
            try? await Task.sleep(for: .seconds(Trends.sampleSeconds))
        }
    }
}
