package decide

import (
	"go/ast"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Nothing assigns an order, or a field of one, once newOrder has made it.
func TestOrdersAreMadeOnce(t *testing.T) {
	made := 0
	for _, f := range parsed(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Order" {
					made++
				}
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					for sel, ok := l.(*ast.SelectorExpr); ok; sel, ok = sel.X.(*ast.SelectorExpr) {
						if sel.Sel.Name == "Order" {
							t.Errorf("an order is written: %v", l)
						}
					}
				}
			}
			return true
		})
	}
	if made != 1 {
		t.Errorf("an order is made in %d places", made)
	}
}

// An order has what the machine may fetch first, and user data only where it fetches something.
func TestNewOrder(t *testing.T) {
	b := &message.BootIntent{Owner: resource.Owner{UID: "c", Kind: resource.PurposeMaintenance}, Ignition: &message.IgnitionIntent{Secret: "s"}}
	b.Generation, b.Image.Digest = 3, "sha256:image"
	chain := &protocol.BootChain{First: "boot.efi", Last: "boot.efi", Files: []protocol.ChainFile{{Name: "boot.efi", Digest: "sha256:uki"}}}
	o := newOrder("c", b, choice{target: protocol.TargetPxe, chain: chain, repeat: true})
	if o.OwnerUID != "c" || o.Generation != 3 || o.Digest != "sha256:image" || o.File != "boot.efi" || o.Blob != "sha256:uki" || o.Ignition != b.Ignition || !o.Repeat || o.Purpose != resource.PurposeMaintenance {
		t.Errorf("%+v", o)
	}
	if o := newOrder("c", b, choice{target: protocol.TargetHdd}); o.Ignition != nil || o.File != "" || o.Blob != "" || o.Chain != nil {
		t.Errorf("%+v", o)
	}
}
