module sluice

go 1.19

require github.com/google/flatbuffers v25.12.19+incompatible
