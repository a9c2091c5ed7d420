import Testing

@Suite("Lives of clusters")
struct SimulatorTests {
}
