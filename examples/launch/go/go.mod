module rank

go 1.25.0

require github.com/dataline/dataline/bindings/go v0.0.0

require github.com/ebitengine/purego v0.11.3 // indirect

replace github.com/dataline/dataline/bindings/go => ../../../bindings/go
