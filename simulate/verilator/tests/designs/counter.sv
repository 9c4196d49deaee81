// A component as the Calyx backend would write it, by hand: it counts up to `limit.mem[0]`, does on the way what
// `limit.mem[1]` says (see the case statement), and at the end moves each word of `grid` one to the left.

module counter_mem1 (input logic clk);
  logic [15:0] mem[1:0];
endmodule

module counter_mem2 (input logic clk);
  logic [99:0] mem[1:0][2:0];
endmodule

module _hidden (input logic clk, input logic go);
  logic probe_out;
  assign probe_out = go;
endmodule

module main (
  input logic [7:0] unused_argument,
  output logic [7:0] argument,
  input logic go,
  input logic clk,
  input logic reset,
  output logic done
);
string DATA;
int CODE;
initial begin
    CODE = $value$plusargs("DATA=%s", DATA);
    $display("DATA (path to meminit files): %s", DATA);
    $readmemh({DATA, "/limit.dat"}, limit.mem);
    $readmemh({DATA, "/grid.dat"}, grid.mem);
end
final begin
    $writememh({DATA, "/limit.out"}, limit.mem);
    $writememh({DATA, "/grid.out"}, grid.mem);
end
counter_mem1 limit (.clk(clk));
counter_mem2 grid (.clk(clk));
_hidden _cell (.clk(clk), .go(go));

logic [15:0] count;
wire _guard0 = go;
wire _guard1 = count == limit.mem[0];
assign done = _guard0 & _guard1;
assign argument = unused_argument;

always_ff @(posedge clk) begin
  if (reset) count <= 16'd0;
  else if (_guard0) begin
    count <= count + 16'd1;
    // Runs in the last cycle; an edge after that would move the words again.
    if (count + 16'd1 == limit.mem[0] || done) begin
      for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) grid.mem[i][j] <= grid.mem[i][(j + 1) % 3];
    end
    if (count == 16'd3) begin
      case (limit.mem[1])
        16'd2: $finish;
        16'd3: $display("hello from cycle %0d", count);
        default: ;
      endcase
    end
  end
end

always_comb begin
  if (limit.mem[1] == 16'd1 && count == 16'd3) $fatal(2, "Multiple assignment to port `r.in'.");
  if (limit.mem[1] == 16'd4 && count == 16'd2) $error("counter: Out of bounds access\n", "addr0: %0d", count);
end
endmodule
