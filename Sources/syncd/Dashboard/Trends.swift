import Sync

/// The figures of a replica over the last hour and the last day.
struct Trends: Sendable {
    /// What is drawn.
    enum Figure: Sendable, CaseIterable {
        case lag, received, sent, conflicts, held, size, commit

        /// What the numbers count, for a caption.
        var name: String {
            switch self {
            case .lag: "Changes that the slowest peer lacks"
            case .received: "Changes received"
            case .sent: "Changes sent"
            case .conflicts: "Open conflicts"
            case .held: "Held rows"
            case .size: "File and log"
            case .commit: "Slowest commit of received changes"
            }
        }

        /// What becomes of several samples in one bin.
        var kind: Trend.Kind {
            switch self {
            case .received, .sent: .sum
            case .lag, .conflicts, .held, .size, .commit: .peak
            }
        }

        /// A value with its unit.
        func text(_ value: Int64) -> String {
            switch self {
            case .size: OverviewPage.size(value)
            case .commit: value == 0 ? "under 1 ms" : "\(ConsoleText.number(value)) ms"
            case .lag, .received, .sent, .conflicts, .held: ConsoleText.number(value)
            }
        }
    }

    /// How much time a chart shows.
    enum Span: Sendable, CaseIterable {
        case hour, day

        var name: String { self == .hour ? "hour" : "day" }
        var binSeconds: Int64 { self == .hour ? 30 : 600 }
        var bins: Int { self == .hour ? 120 : 144 }
    }

    /// Seconds from one sample to the next.
    static let sampleSeconds: Int64 = 10

    private struct Key: Hashable {
        let figure: Figure
        let span: Span
    }

    private var trends: [Key: Trend] = [:]

    init() {
        for figure in Figure.allCases {
            for span in Span.allCases {
                trends[Key(figure: figure, span: span)] = Trend(
                    figure.kind, binSeconds: span.binSeconds, count: span.bins)
            }
        }
    }

    /// Adds one sample.
    ///
    /// - Parameters:
    ///   - values: The figures that are known at this time.
    ///   - second: The time of a steady clock, in seconds.
    mutating func add(_ values: [Figure: Int64], at second: Int64) {
        for (figure, value) in values {
            for span in Span.allCases { trends[Key(figure: figure, span: span)]?.add(value, at: second) }
        }
    }

    /// The values of one chart, the oldest first; nil where nothing was measured.
    func values(_ figure: Figure, _ span: Span, at second: Int64) -> [Int64?] {
        trends[Key(figure: figure, span: span)]?.values(at: second) ?? []
    }

    /// All charts, as a list.
    ///
    /// - Parameter second: The time of a steady clock, in seconds, at which they end.
    func html(at second: Int64) -> HTML {
        let items: [HTML] = Figure.allCases.map { figure in
            let charts: [HTML] = Span.allCases.map { span in
                Chart(figure, span, values(figure, span, at: second)).html
            }
            return "<li><figure><figcaption>\(figure.name)</figcaption>\(charts)</figure></li>\n"
        }
        return "<ul class=\"charts\">\(items)</ul>"
    }
}

extension Trends {
    /// The figures of one moment.
    ///
    /// - Parameters:
    ///   - report: The status of the replica.
    ///   - reading: What was exchanged until now.
    ///   - before: What was exchanged until the sample before.
    static func sample(
        _ report: StatusReport, _ reading: ExchangeMeter.Reading, since before: ExchangeMeter.Reading
    ) -> [Figure: Int64] {
        var values: [Figure: Int64] = [
            .received: Int64(reading.received - before.received), .sent: Int64(reading.sent - before.sent),
            .conflicts: Int64(report.conflicts), .held: Int64(report.held), .size: report.fileBytes + report.walBytes,
        ]
        values[.lag] = report.peers.compactMap(\.lag?.changes).max()
        values[.commit] = reading.slowestApplyMilliseconds
        return values
    }
}
