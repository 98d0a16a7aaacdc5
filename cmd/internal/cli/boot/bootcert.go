package boot

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/netboot"
	"rackboot/netboot/bootcert"
	"rackboot/protocol"
)

// bootCertValue is a certificate of HTTPS boot, for other programs.
type bootCertValue struct {
	Name        string     `json:"name"` // ca, ecdsa, rsa
	Key         string     `json:"key"`
	For         []string   `json:"for,omitempty"`
	From        time.Time  `json:"from"`
	Ends        time.Time  `json:"ends"`
	RenewFrom   *time.Time `json:"renewFrom,omitempty"`
	Fingerprint string     `json:"fingerprint"`
}

// bootCertFlags say which folder, and for what.
type bootCertFlags struct {
	dir   string
	hosts []string
}

func bootCertCmd(pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "boot-cert", Short: "Make and check the certificates of HTTPS boot", Args: cobra.NoArgs,
		Long: "Make and check the certificates of HTTPS boot, in a folder of this host. No hub is\n" +
			"asked. Certificates of your own go into the folder as ecdsa.pem, ecdsa.key, rsa.pem\n" +
			"and rsa.key, and the authority that firmware trusts as ca.pem.",
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f bootCertFlags
	sub := func(use, short string, run func(*printer.Printer, bootCertFlags) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return run(pr, f) }}
		c.Flags().StringVar(&f.dir, "dir", "", "the folder (required)")
		_ = c.MarkFlagRequired("dir") // it is the line above
		cmd.AddCommand(c)
		return c
	}
	maker := sub("make --dir DIR --host ADDRESS", "Make an authority and certificates, or renew what is due", bootCertMake)
	maker.Long = "Make an authority and two certificates, one for firmware with elliptic curves and one\n" +
		"for firmware without, and print how to enrol the authority. Run again it keeps what is\n" +
		"there, and replaces what is due or for other hosts; the authority always stays."
	maker.Example = "  rackctl boot-cert make --dir /etc/rackboot/https --host 10.7.0.1 --host 10.8.0.1"
	maker.Flags().StringArrayVar(&f.hosts, "host", nil, "host of a segment's baseURL: IP address, or name besides; repeat for more")
	sub("show --dir DIR", "Show the certificates of a folder", bootCertShow)
	check := sub("check --dir DIR [--host ADDRESS]", "Say what firmware would have against the certificates of a folder", bootCertCheck)
	check.Flags().StringArrayVar(&f.hosts, "host", nil, "host that they must be for; repeat for more")
	return cmd
}

func bootCertMake(pr *printer.Printer, f bootCertFlags) error {
	names, err := bootcert.ParseNames(f.hosts)
	if err != nil {
		return err
	}
	folder := bootcert.Folder(f.dir)
	made, err := folder.Make(names, time.Now())
	if err != nil {
		return err
	}
	var what []string
	if made.Authority {
		what = append(what, "ca")
	}
	for _, kind := range made.Issued {
		what = append(what, string(kind))
	}
	if len(what) == 0 {
		what = []string{"nothing"}
	}
	pr.Progress("made: %s", strings.Join(what, ", "))
	if err := bootCertShow(pr, f); err != nil || !pr.Tabular() {
		return err
	}
	der, list, pem := folder.Enrolled()
	_, err = fmt.Fprintf(pr.Out, `
Enrol the authority in the firmware of each server that boots by HTTPS, in one of these ways:
  set-up menu   %s on a FAT stick; EDK2: Device Manager, Tls Auth Configuration,
                Server CA Configuration, Enroll Cert, Enroll Cert Using File
  UEFI variable %s is the value of TlsCaCertificate, an EFI signature list;
                QEMU with OVMF: -fw_cfg name=etc/edk2/https/cacerts,file=%s
  Redfish       POST %s to Boot/Certificates of the system, where its BMC has that
Keep %s/ca.key secret: who has it can pose as any HTTPS server towards these servers.
`, der, list, list, pem, f.dir)
	return err
}

func bootCertShow(pr *printer.Printer, f bootCertFlags) error {
	v, err := bootCertView(bootcert.Folder(f.dir))
	if err != nil {
		return err
	}
	return pr.Show(v)
}

// bootCertView is the authorities and certificates of a folder.
func bootCertView(folder bootcert.Folder) (printer.View, error) {
	v := printer.View{Columns: printer.Columns("CERTIFICATE KEY FOR ENDS RENEWED-FROM", "FINGERPRINT")}
	if _, err := os.Stat(string(folder)); err != nil {
		code := protocol.CodeUnavailable
		if os.IsNotExist(err) {
			code = protocol.CodeNotFound
		}
		return v, protocol.Errorf(code, "read boot certificates", "%w", err).WithHint("make them with rackctl boot-cert make")
	}
	roots, err := folder.Roots()
	if err != nil {
		return v, err
	}
	for _, r := range roots {
		v.Items = append(v.Items, bootCertItem("ca", r, nil))
	}
	for _, kind := range []netboot.KeyKind{netboot.KeyECDSA, netboot.KeyRSA} {
		p, ok, err := folder.Pair(kind)
		if err != nil {
			return v, err
		}
		if ok {
			renew := bootcert.RenewFrom(p.Leaf())
			v.Items = append(v.Items, bootCertItem(string(kind), p.Leaf(), &renew))
		}
	}
	return v, nil
}

func bootCertItem(name string, c *x509.Certificate, renew *time.Time) printer.Item {
	sum := sha256.Sum256(c.Raw)
	value := bootCertValue{
		Name: name, Key: bootcert.KeyName(c), For: bootcert.NamesOf(c).List(), From: c.NotBefore, Ends: c.NotAfter,
		RenewFrom: renew, Fingerprint: "sha256:" + hex.EncodeToString(sum[:]),
	}
	day := ""
	if renew != nil {
		day = renew.Format(time.DateOnly)
	}
	return printer.Item{
		Value: value, Name: "boot-cert/" + name,
		Cells: []string{name, value.Key, strings.Join(value.For, ","), c.NotAfter.Format(time.DateOnly), day, value.Fingerprint},
	}
}

func bootCertCheck(pr *printer.Printer, f bootCertFlags) error {
	const op = "check boot certificates"
	var names bootcert.Names
	var err error
	if len(f.hosts) > 0 {
		if names, err = bootcert.ParseNames(f.hosts); err != nil {
			return err
		}
	}
	folder := bootcert.Folder(f.dir)
	v, err := bootCertView(folder)
	if err != nil {
		return err
	}
	roots, err := folder.Roots()
	if err != nil {
		return err
	}
	problems := 0
	for _, kind := range []netboot.KeyKind{netboot.KeyECDSA, netboot.KeyRSA} {
		p, ok, err := folder.Pair(kind)
		if err != nil {
			return err
		}
		if !ok {
			pr.Progress("%s: none%s", kind, missingKind(kind))
			continue
		}
		for _, bad := range bootcert.Check(kind, p, names, roots, time.Now()) {
			problems++
			pr.Progress("%s\n  hint: %s", bad, protocol.HintOf(bad))
		}
		if bootcert.Due(p.Leaf(), time.Now()) {
			pr.Progress("%s: ends on %s; replace it soon", kind, p.Leaf().NotAfter.Format(time.DateOnly))
		}
	}
	if err := pr.Show(v); err != nil {
		return err
	}
	for _, it := range v.Items {
		if it.Value.(bootCertValue).Name != "ca" {
			if problems == 0 {
				return nil
			}
			return protocol.Errorf(protocol.CodeInvalid, op, "%s", printer.Plural(problems, "problem")).WithHint("an agent does not serve a certificate with a problem")
		}
	}
	return protocol.Errorf(protocol.CodeNotFound, op, "there is no certificate in %s", f.dir).WithHint("make them with rackctl boot-cert make")
}

// missingKind says who cannot boot without a certificate of a kind.
func missingKind(kind netboot.KeyKind) string {
	if kind == netboot.KeyRSA {
		return "; firmware without elliptic curves (EDK2 up to edk2-stable202211) cannot boot"
	}
	return "; firmware takes the RSA one"
}
