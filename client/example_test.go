package client_test

import (
	"context"
	"fmt"
	"log" //nolint:depguard // as programs of others have it
	"os"
	"time"

	"rackboot/client"
)

// Holds a server, and waits until its agent has proved that it is off.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	pem, err := os.ReadFile("ca.pem")
	if err != nil {
		log.Fatal(err)
	}
	hub, err := client.New(client.Config{URL: "https://hub.example:8443", CA: pem, Token: os.Getenv("RACKBOOT_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	placed, err := hub.HoldWithResponse(ctx, "n1", nil, client.HoldRequest{Key: "node-1"})
	if problem := client.ProblemOf(err); problem != nil {
		log.Fatalf("%s: %s", problem.Code, problem.Hint)
	} else if err != nil {
		log.Fatal(err)
	}
	for {
		hold, err := hub.GetHoldWithResponse(ctx, placed.JSON200.Metadata.Name)
		if err != nil {
			log.Fatal(err)
		}
		if status := hold.JSON200.Status; status != nil && status.Receipt != nil && status.Word == "Fenced" && !status.Stale {
			fmt.Println("off since", status.Receipt.StoppedSince)
			return
		}
		time.Sleep(2 * time.Second)
	}
}
