import Testing
@Test func skeleton() { #expect(Bool(true)) }
