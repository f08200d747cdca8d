"""A till: lines make an order, an order makes a receipt. Prices are whole cents."""
