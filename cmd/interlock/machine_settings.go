package main

import "fmt"

// machineSettings lists the settings of a machine, which --set and a chat over HTTP change.
func (a *app) machineSettings(arg string) error {
	m, err := a.findMachine(arg)
	if err != nil {
		return err
	}
	type row struct {
		Name    string   `json:"name"`
		Type    string   `json:"type"`
		Min     *float64 `json:"min,omitempty"`
		Max     *float64 `json:"max,omitempty"`
		Default any      `json:"default"`
		Label   string   `json:"label"`
	}
	list := make([]row, len(m.Settings))
	rows := make([][]string, len(m.Settings))
	for i, s := range m.Settings {
		list[i] = row{s.Name, s.Type.String(), s.Min, s.Max, s.Default, s.Label}
		rows[i] = []string{s.Name, s.Type.String(), boundText(s.Min), boundText(s.Max), fmt.Sprint(s.Default), s.Label}
	}
	a.printRows(list, []string{"setting", "type", "least", "most", "default", "what it is"}, rows)
	return nil
}

// boundText is a bound of a number, empty where there is none.
func boundText(bound *float64) string {
	if bound == nil {
		return ""
	}
	return fmt.Sprint(*bound)
}
