import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import SyncdCore

@Suite("What is cancelled at the end is told", .timeLimit(.minutes(1)))
struct DrainWitnessTests {
    /// A service that ends when it is told to stop, or only when it is cancelled.
    private struct Work: Service {
        let isStubborn: Bool
        let started: AsyncStream<Void>.Continuation

        func run() async throws {
            started.yield()
            if isStubborn {
                // It never ends by itself.
                for await _ in AsyncStream<Void>.makeStream().stream {}
            } else {
                try await gracefulShutdown()
            }
        }
    }

    @Test("services that end in time are not cut short, those that had to be cancelled are", arguments: [false, true])
    func stop(isStubborn: Bool) async throws {
        let drain = DrainWitness()
        let (starts, started) = AsyncStream<Void>.makeStream()
        let works: [any Service] = [isStubborn, false].map { Work(isStubborn: $0, started: started) }
        var logger = Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var configuration = ServiceGroupConfiguration(services: [drain] + works, logger: logger)
        configuration.maximumGracefulShutdownDuration = .milliseconds(isStubborn ? 1 : 60_000)
        let services = ServiceGroup(configuration: configuration)
        let log = LogRecord()
        async let end: Void = drain.run(services, listeningOn: ListenAddress(host: "localhost", port: 0), log.logger)
        for await _ in starts.prefix(works.count) {}
        await services.triggerGracefulShutdown()
        try await end
        #expect(drain.isCutShort == isStubborn)
        #expect(log.all.count == (isStubborn ? 1 : 0))
    }
}
