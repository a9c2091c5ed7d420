import ArgumentParser

/// When rows that programs wrote past capture become changes.
enum RecaptureMode: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// When a comparison with a peer finds them.
    case automatic
    /// When an operator asks for it, by `syncd init --recapture` or `syncd verify --repair`.
    case manual
}
