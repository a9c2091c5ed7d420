/// A line over time, as SVG within the page. It has no colours of its own: the style sheet gives them.
struct Chart {
    static let width = 240
    static let height = 40

    private let figure: Trends.Figure
    private let span: Trends.Span
    private let values: [Int64?]

    /// - Parameter values: The oldest first; nil where nothing was measured.
    init(_ figure: Trends.Figure, _ span: Trends.Span, _ values: [Int64?]) {
        self.figure = figure
        self.span = span
        self.values = values
    }

    var html: HTML {
        guard let last = values.last(where: { $0 != nil }) ?? nil, let most = values.compactMap(\.self).max() else {
            return "<p class=\"soft\">Last \(span.name): nothing measured yet</p>"
        }
        let text =
            figure.kind == .sum
            ? "Last \(span.name): \(figure.text(values.reduce(0) { $0 + ($1 ?? 0) }))"
            : "Last \(span.name): now \(figure.text(last)), at most \(figure.text(most))"
        return """
            <p class="soft">\(text)</p><svg class="chart" role="img" aria-label="\(figure.name). \(text)" \
            viewBox="0 0 \(id: Int64(Chart.width)) \(id: Int64(Chart.height))" preserveAspectRatio="none">\
            <path d="\(path(most: most))"/></svg>
            """
    }

    /// The line as the data of an SVG path. Points between two others of the same height are left out, so a
    /// quiet figure takes few bytes. Where nothing was measured, the line has a gap.
    func path(most: Int64) -> String {
        let heights = values.map { $0.map { y($0, most: most) } }
        var path = ""
        for (index, height) in heights.enumerated() {
            guard let height else { continue }
            let before = index > 0 ? heights[index - 1] : nil
            let after = index + 1 < heights.count ? heights[index + 1] : nil
            guard before != height || after != height else { continue }
            path += before == nil ? "M" : "L"
            path += "\(x(index)) \(height)"
            // A value alone has no line; it gets a short one.
            if before == nil, after == nil { path += "h2" }
        }
        return path
    }

    private func x(_ index: Int) -> Int {
        values.count > 1 ? index * (Chart.width - 2) / (values.count - 1) : 0
    }

    /// Zero is at the bottom, with room for the width of the line.
    private func y(_ value: Int64, most: Int64) -> Int {
        guard most > 0 else { return Chart.height - 2 }
        let share = Double(max(value, 0)) / Double(most)
        return Chart.height - 2 - Int((share * Double(Chart.height - 4)).rounded())
    }
}
