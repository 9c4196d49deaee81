module xor_reduce #(
    parameter WIDTH = 32
) (
    input  logic [WIDTH-1:0] in,
    output logic             out
);
  assign out = ^in;
endmodule
