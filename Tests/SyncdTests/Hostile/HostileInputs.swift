/// Builds a table of inputs from single inputs and lists of them.
@resultBuilder
enum HostileInputs {
    static func buildExpression(_ input: HostileInput) -> [HostileInput] { [input] }
    static func buildExpression(_ inputs: [HostileInput]) -> [HostileInput] { inputs }
    static func buildArray(_ inputs: [[HostileInput]]) -> [HostileInput] { inputs.flatMap(\.self) }
    static func buildBlock(_ inputs: [HostileInput]...) -> [HostileInput] { inputs.flatMap(\.self) }
}
